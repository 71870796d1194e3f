"""What is waited for by kind and annotation, as the official provider does (provider/pkg/await)."""

import threading
import time
from dataclasses import dataclass

from core.apis.names import SKIP_AWAIT
from toolkit.engine.prediction.inputs import ObjectType, annotation
from toolkit.engine.prediction.readiness import Observation
from toolkit.engine.prediction.values import Properties
from toolkit.simulator.provider.cluster_objects import Address, Objects
from toolkit.simulator.provider.errors import EngineLog
from toolkit.simulator.provider.observations import Checker, Seen
from toolkit.simulator.provider.readiness import CHECKERS
from toolkit.simulator.provider.wait_annotation import timeout, wait_rule
from toolkit.simulator.provider.wait_loops import (
    EVENTS_PAUSE,
    FIRST_EVENTS,
    BlockingEvents,
    NotReadyError,
    Patience,
    until_gone,
)

_TIMED_OUT = "timed out waiting for the condition"
_TIMEOUT = 600.0


@dataclass(frozen=True)
class Awaiter:
    """How one object is waited for: the check, what a wait in vain says, and a time of its own (seconds)."""

    checker: Checker
    timed_out: str
    fixed_timeout: float = 0
    before: Properties | None = None


def awaiter_for(kind: ObjectType, inputs: Properties, live: Properties, before: Properties | None) -> Awaiter | None:
    """Return how an object is waited for: by its annotations, else its kind, else not at all. Raises BadWaitError."""
    if annotation(inputs, SKIP_AWAIT) == "true":
        return None
    rule = wait_rule(live)
    if rule is not None:
        return Awaiter(Checker(rule), _TIMED_OUT)
    checker = CHECKERS.get((kind.group, kind.kind))
    if checker is None:
        return None
    name = str(live["metadata"]["name"])
    return Awaiter(checker, checker.timed_out.format(name=name) or _TIMED_OUT, checker.fixed_timeout, before)


@dataclass(frozen=True)
class Waits:
    """Polls objects and what belongs to them, until they are ready."""

    objects: Objects

    def until_ready(self, awaiter: Awaiter, address: Address, live: Properties, patience: Patience) -> Properties:
        """Return the live object once it is ready. Raises NotReadyError (failed, timed out or cancelled)."""
        blocking = BlockingEvents(self.objects, address, str(live.get("metadata", {}).get("uid", "")))
        next_events, logged, settling = time.monotonic() + FIRST_EVENTS, "", _Settling()
        for last in patience.readings():
            now = self.objects.get(address)
            live = now or live
            observed = self._observe(awaiter, live, settling) if now else Observation(ready=False)
            if observed.ready:
                return live
            if observed.failure:
                raise NotReadyError(live, observed.failure, [*observed.reasons, *blocking.causes])
            if last:
                if observed.ready_at_last:
                    return live
                text = observed.error or awaiter.timed_out
                if patience.cancelled.is_set():
                    text = f'Resource operation was cancelled for "{address.name}"'
                raise NotReadyError(live, text, [*observed.reasons, *blocking.causes])
            if time.monotonic() >= next_events:
                next_events = time.monotonic() + EVENTS_PAUSE
                for text in blocking.new():
                    patience.warn(text)
            if observed.message and observed.message != logged:
                logged = observed.message
                patience.say(f"waiting: {logged}")
        return live

    def _observe(self, awaiter: Awaiter, live: Properties, settling: "_Settling") -> Observation:
        seen = self.seen(awaiter.checker, live)
        return awaiter.checker.observe(
            Seen(live, seen.related, awaiter.before, settling.settled(seen.related), creating=True)
        )

    def seen(self, checker: Checker, live: Properties) -> Seen:
        """Return the object with what belongs to it."""
        namespace = str(live["metadata"].get("namespace", ""))
        related = {kind.kind: self.objects.all(kind, namespace) for kind in checker.related}
        if checker.storage_class:
            name = str(live.get("spec", {}).get("storageClassName") or "")
            storage_class = self.objects.storage_class(name) if name else None
            related["StorageClass"] = [storage_class] if storage_class else []
        return Seen(live, related)


class _Settling:
    """Whether endpoints have not changed for a while: ten seconds after the last change, sixty where there are none."""

    def __init__(self) -> None:
        self._versions: frozenset[str] = frozenset()
        self._settled_at = 0.0
        self._started = time.monotonic()

    def settled(self, related: dict[str, list[Properties]]) -> bool:
        """Return whether they have settled, as of these."""
        versions = frozenset(
            f"{item['metadata']['name']} {item['metadata']['resourceVersion']}" for item in related.get("Endpoints", [])
        )
        now = time.monotonic()
        if versions != self._versions:
            self._versions, self._settled_at = versions, now + 10
        if not self._versions and not self._settled_at:
            return now >= self._started + 60
        return now >= self._settled_at


def state_on_read(
    waits: Waits, address: Address, inputs: Properties, live: Properties
) -> tuple[NotReadyError | None, Properties]:
    """Return what a refresh says of a workload that is not ready at this moment, and the object."""
    checker = CHECKERS.get((address.kind.group, address.kind.kind))
    if checker is None or not checker.on_read or annotation(inputs, SKIP_AWAIT) == "true":
        return None, live
    seen = waits.seen(checker, live)
    observed = checker.observe(Seen(live, seen.related, None, settled=True, creating=False))
    if observed.ready:
        return None, live
    text = f"Resource '{address.name}' was created but failed to initialize"
    return NotReadyError(live, text, observed.reasons), live


@dataclass(frozen=True)
class Resource:
    """Which resource an operation is about, and the seconds that its customTimeouts give (0: none)."""

    urn: str
    kind: ObjectType
    timeout: float = 0


class ResourceWaits:
    """Waits for objects of one cluster to be ready or gone; `cancelled` ends them all."""

    def __init__(self, objects: Objects, log: EngineLog, cancelled: threading.Event) -> None:
        self.waits = Waits(objects)
        self._log = log
        self._cancelled = cancelled

    def until_ready(
        self, resource: Resource, address: Address, inputs: Properties, live: Properties, before: Properties | None
    ) -> Properties:
        """Wait for the object as its kind and annotations ask for. Raises NotReadyError, BadWaitError."""
        address = Address(address.kind, live["metadata"].get("namespace", ""), address.name)
        awaiter = awaiter_for(address.kind, inputs, live, before)
        if awaiter is None:
            return live
        seconds = awaiter.fixed_timeout or timeout(inputs, resource.timeout, _TIMEOUT)
        live = self.waits.until_ready(awaiter, address, live, self._patience(resource, seconds))
        self._log.status(resource.urn, "")
        return live

    def until_gone(self, resource: Resource, address: Address, inputs: Properties) -> None:
        """Wait until the object is deleted. Raises NotGoneError."""
        patience = self._patience(resource, timeout(inputs, resource.timeout, _TIMEOUT))
        until_gone(self.waits.objects, address, patience)

    def _patience(self, resource: Resource, seconds: float) -> Patience:
        return Patience(
            seconds,
            self._cancelled,
            say=lambda text: self._log.status(resource.urn, text),
            warn=lambda text: self._log.warn(resource.urn, text),
        )
