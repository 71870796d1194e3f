"""The waits of one resource, with its timeout, and its messages to the engine."""

import threading
from dataclasses import dataclass

from toolkit.engine.prediction.inputs import ObjectType
from toolkit.engine.prediction.values import Properties
from toolkit.simulator.provider.awaiters import Waits, awaiter_for
from toolkit.simulator.provider.cluster_objects import Address, Objects
from toolkit.simulator.provider.engine_log import EngineLog
from toolkit.simulator.provider.wait_annotation import timeout
from toolkit.simulator.provider.wait_loops import Patience, until_gone

_TIMEOUT = 600.0


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
