"""The loops that wait for an object to be ready or gone."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from simulator.plugins.provider.connection import ApiError
from simulator.plugins.provider.discovery import UnknownKindError
from simulator.plugins.provider.hindrances import cause, concerns, key, latest
from simulator.plugins.provider.inputs import ObjectType
from simulator.plugins.provider.objects import Address, Objects
from simulator.plugins.provider.readiness import Rule, Verdict, binds_late, conditions, pod_messages
from simulator.plugins.provider.values import Properties

# Seconds between two looks at an object: quick at first (most are ready at once), a second for long waits.
FIRST_PAUSE, LONGEST_PAUSE, SLOWER = 0.05, 1.0, 1.4
# Seconds before the first look at Warning events (in an update without faults most pods have their nodes by then), and
# between two looks.
FIRST_EVENTS, EVENTS_PAUSE = 3.0, 2.0
_POD_SELECTORS = {"Job": "batch.kubernetes.io/job-name"}

Say = Callable[[str], None]


class NotReadyError(Exception):
    """The object exists but did not become ready; `live` is how it was last seen."""

    def __init__(self, live: Properties, reasons: list[str]) -> None:
        super().__init__(reasons[0])
        self.live = live
        self.reasons = reasons


class NotGoneError(Exception):
    """The object was asked to go but is still there."""


@dataclass(frozen=True)
class Patience:
    """How long to wait (seconds), the event that ends every wait, and whom to tell what is waited for and hinders."""

    timeout: float
    cancelled: threading.Event
    say: Say
    warn: Say

    def looks(self) -> Iterator[bool]:
        """Return yields before each look at the object whether it is the last one."""
        end = time.monotonic() + self.timeout
        pause = FIRST_PAUSE
        while True:
            over = time.monotonic() >= end or self.cancelled.is_set()
            yield over
            if over:
                return
            self.cancelled.wait(min(pause, max(0.0, end - time.monotonic())))
            pause = min(pause * SLOWER, LONGEST_PAUSE)

    def why(self) -> str:
        """Why the wait ended early."""
        return "cancelled" if self.cancelled.is_set() else f"timed out after {self.timeout:g} s"


def until_ready(objects: Objects, address: Address, live: Properties, rule: Rule, patience: Patience) -> Properties:
    """Return the live object once the rule says ready. Raises NotReadyError (failed, timed out or cancelled)."""
    rule = _late_binding(objects, rule) if address.kind.kind == "PersistentVolumeClaim" else rule
    verdict, said = rule(live), ""
    hindrances = Hindrances(objects, address, str(live.get("metadata", {}).get("uid", "")))
    next_look = time.monotonic() + FIRST_EVENTS
    for last in patience.looks():
        if verdict.state == "ready":
            return live
        if verdict.state == "failed":
            raise NotReadyError(live, [f"{address}: {verdict.message}", *_pod_reasons(objects, address, live)])
        if last:
            reason = f"{address} is not ready, {patience.why()}: {verdict.message}"
            raise NotReadyError(live, [reason, *_pod_reasons(objects, address, live), *hindrances.known])
        if time.monotonic() >= next_look:
            next_look = time.monotonic() + EVENTS_PAUSE
            for text in hindrances.new():
                patience.warn(text)
        if verdict.message != said:
            said = verdict.message
            patience.say(f"waiting: {said}")
        now = objects.get(address)
        if now is None:
            raise NotReadyError(live, [f"{address} was deleted by somebody else while waiting for it"])
        live = now
        verdict = rule(live)
    return live


class Hindrances:
    """What Warning events say about an object that is waited for, and what it owns: each cause once.

    The official provider warns of such events while it waits, as well.
    """

    def __init__(self, objects: Objects, address: Address, uid: str) -> None:
        self._objects, self._address, self._uid = objects, address, uid
        self._seen: set[str] = set()
        self._keys: set[tuple[str, str]] = set()
        self.known: list[str] = []

    def new(self) -> list[str]:
        """Return the causes that were not there at the last look; none where events cannot be read."""
        if not self._address.namespace:
            return []
        try:
            return list(self._look())
        except ApiError:
            return []

    def _look(self) -> Iterator[str]:
        found: dict[str, Properties | None] = {}

        def find(reference: Mapping[str, Any]) -> Properties | None:
            uid = str(reference.get("uid"))
            if uid not in found:
                found[uid] = self._find(reference)
            return found[uid]

        for event in sorted(self._objects.warnings(self._address.namespace), key=latest):
            uid = str(event.get("metadata", {}).get("uid"))
            if uid in self._seen:
                continue
            self._seen.add(uid)
            if concerns(event, self._uid, find) and key(event) not in self._keys:
                self._keys.add(key(event))
                self.known.append(cause(event))
                yield cause(event)

    def _find(self, reference: Mapping[str, Any]) -> Properties | None:
        group, _, version = str(reference.get("apiVersion", "")).rpartition("/")
        kind = ObjectType(group, version, str(reference.get("kind")))
        try:
            return self._objects.get(Address(kind, self._address.namespace, str(reference.get("name"))))
        except UnknownKindError:
            return None


def until_gone(objects: Objects, address: Address, uid: str, patience: Patience) -> None:
    """Return once the object, or its kind, is gone (another object of that name is another). Raises NotGoneError."""
    said = ""
    for last in patience.looks():
        try:
            live = objects.get(address)
        except UnknownKindError:
            return
        if live is None or (uid and live.get("metadata", {}).get("uid") != uid):
            return
        reason = _why_still_there(live)
        if last:
            raise NotGoneError(f"{address} still exists, {patience.why()}{': ' + reason if reason else ''}")
        text = f"waiting for deletion{': ' + reason if reason else ''}"
        if text != said:
            said = text
            patience.say(text)


def _why_still_there(live: Properties) -> str:
    finalizers = live.get("metadata", {}).get("finalizers", [])
    reasons = [f"finalizers {', '.join(finalizers)}"] if finalizers else []
    if live.get("kind") == "Namespace":
        reasons += [str(item.get("message")) for item in conditions(live).values() if item.get("status") == "True"]
    return "; ".join(reasons)


def _late_binding(objects: Objects, rule: Rule) -> Rule:
    """Return a claim of a class that binds at first use is ready while Pending: its pod comes after it."""

    def judge(live: Properties) -> Verdict:
        verdict = rule(live)
        name = live.get("spec", {}).get("storageClassName")
        if verdict.state == "waiting" and name and binds_late(objects.storage_class(name)):
            return Verdict("ready")
        return verdict

    return judge


def _pod_reasons(objects: Objects, address: Address, live: Properties) -> list[str]:
    """Say what the pods of a workload say, each once: the reason is usually there and not in the workload's status."""
    selector = _selector(address, live)
    if not selector:
        return []
    try:
        pods = objects.pods(live["metadata"].get("namespace", ""), selector)
    except ApiError:
        return []
    found = [f"Pod {pod['metadata']['name']}: {message}" for pod in pods for message in _messages(pod)]
    return list(dict.fromkeys(found))


def _messages(pod: Properties) -> list[str]:
    unscheduled = conditions(pod).get("PodScheduled", {})
    texts = pod_messages(pod)
    if unscheduled.get("status") == "False":
        texts.append(str(unscheduled.get("message", "")))
    return texts


def _selector(address: Address, live: Properties) -> str:
    if address.kind.kind in _POD_SELECTORS:
        return f"{_POD_SELECTORS[address.kind.kind]}={address.name}"
    if address.kind.group != "apps":
        return ""
    labels = live.get("spec", {}).get("selector", {}).get("matchLabels", {})
    return ",".join(f"{key}={value}" for key, value in labels.items())
