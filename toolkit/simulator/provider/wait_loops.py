"""The loops that wait for an object to be ready or gone."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.apis.client import ApiError
from toolkit.engine.prediction.blocking_events import cause, concerns, key, latest
from toolkit.engine.prediction.inputs import ObjectType
from toolkit.engine.prediction.readiness import conditions
from toolkit.engine.prediction.values import Properties
from toolkit.simulator.provider.cluster_objects import Address, Objects
from toolkit.simulator.provider.discovery import UnknownKindError

# Seconds between two readings of an object: quick at first, as most are ready at once; then about a seventh of the time
# that it has taken, up to a second.
FIRST_PAUSE, LONGEST_PAUSE, SLOWER = 0.05, 1.0, 1.15
# Seconds before the first reading of Warning events (without faults most pods have their nodes by then), and
# between two readings.
FIRST_EVENTS, EVENTS_PAUSE = 3.0, 2.0

Say = Callable[[str], None]


class NotReadyError(Exception):
    """The object exists but did not become ready; `live` is how it was last seen."""

    def __init__(self, live: Properties, text: str, reasons: list[str]) -> None:
        super().__init__(text)
        self.live = live
        self.reasons = reasons


class NotGoneError(Exception):
    """The object is being deleted but still exists; `live` is how it was last seen."""

    def __init__(self, live: Properties) -> None:
        super().__init__("timed out waiting for the condition")
        self.live = live

    @property
    def finalizers(self) -> list[str]:
        """The finalizers that block it."""
        return [str(name) for name in self.live.get("metadata", {}).get("finalizers", [])]


@dataclass(frozen=True)
class Patience:
    """How long to wait (seconds), the event that ends every wait, and where to report what it waits for."""

    timeout: float
    cancelled: threading.Event
    say: Say
    warn: Say

    def readings(self) -> Iterator[bool]:
        """Yield, before each reading of the object, whether it is the last one."""
        end = time.monotonic() + self.timeout
        pause = FIRST_PAUSE
        while True:
            over = time.monotonic() >= end or self.cancelled.is_set()
            yield over
            if over:
                return
            self.cancelled.wait(min(pause, max(0.0, end - time.monotonic())))
            pause = min(pause * SLOWER, LONGEST_PAUSE)


class BlockingEvents:
    """What Warning events say about an object that is waited for, and what it owns: each cause once.

    The official provider warns of such events while it waits, as well.
    """

    def __init__(self, objects: Objects, address: Address, uid: str) -> None:
        self._objects, self._address, self._uid = objects, address, uid
        self._seen: set[str] = set()
        self._keys: set[tuple[str, str]] = set()
        self.causes: list[str] = []

    def new(self) -> list[str]:
        """Return the causes that were not there at the last reading; none where events cannot be read."""
        if not self._address.namespace:
            return []
        try:
            return list(self._observe())
        except ApiError:
            return []

    def _observe(self) -> Iterator[str]:
        owner_of_uid: dict[str, Properties | None] = {}

        def find(reference: Mapping[str, Any]) -> Properties | None:
            uid = str(reference.get("uid"))
            if uid not in owner_of_uid:
                owner_of_uid[uid] = self._find(reference)
            return owner_of_uid[uid]

        for event in sorted(self._objects.warnings(self._address.namespace), key=latest):
            uid = str(event.get("metadata", {}).get("uid"))
            if uid in self._seen:
                continue
            self._seen.add(uid)
            if concerns(event, self._uid, find) and key(event) not in self._keys:
                self._keys.add(key(event))
                self.causes.append(cause(event))
                yield cause(event)

    def _find(self, reference: Mapping[str, Any]) -> Properties | None:
        group, _, version = str(reference.get("apiVersion", "")).rpartition("/")
        kind = ObjectType(group, version, str(reference.get("kind")))
        try:
            return self._objects.get(Address(kind, self._address.namespace, str(reference.get("name"))))
        except UnknownKindError:
            return None


def until_gone(objects: Objects, address: Address, patience: Patience) -> None:
    """Return once the object, or its kind, is gone. Raises NotGoneError."""
    logged = ""
    for last in patience.readings():
        try:
            live = objects.get(address)
        except UnknownKindError:
            return
        if live is None:
            return
        if last:
            raise NotGoneError(live)
        reason = _deletion_blockers(live)
        text = f"waiting for deletion{': ' + reason if reason else ''}"
        if text != logged:
            logged = text
            patience.say(text)


def _deletion_blockers(live: Properties) -> str:
    finalizers = live.get("metadata", {}).get("finalizers", [])
    reasons = [f"finalizers {', '.join(finalizers)}"] if finalizers else []
    if live.get("kind") == "Namespace":
        reasons += [str(item.get("message")) for item in conditions(live).values() if item.get("status") == "True"]
    return "; ".join(reasons)
