"""Machines that are off: no one renews their lease, and their pods stay as they were last seen.

A node with the annotation `names.LOST` is one. kwok manages the nodes whose lease it holds, so another holder takes it
for as long as the machine is off; the node controller sees a lease that is not renewed. Without the annotation the
machine starts again: its containers are gone, and what was deleted meanwhile ends.
"""

import logging

from core.apis import kinds
from toolkit.simulator import names, pods
from toolkit.simulator.actors.api import LEASE, ApiError, Object
from toolkit.simulator.actors.informer import Key, Loop, key_of
from toolkit.simulator.actors.runtime import Runtime

log = logging.getLogger(__name__)

LEASES = "kube-node-lease"
OFF = "hpc-sim-machine-is-off"
"""Who holds the lease of such a node."""
YEARS = 10 * 365 * 24 * 3600
"""Seconds that its lease is for: kwok takes one that has expired."""
REBOOTED = "255"
"""Exit code that containerd and CRI-O report of a container that was there before the machine started."""
AGAIN = 0.2


def is_off(node: Object) -> bool:
    """Return whether a node's machine is off."""
    return names.LOST in pods.annotations(node)


class Losses:
    """Takes the lease of a node whose machine goes off, freezes its pods, and gives both back."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._loop = Loop("machines that are off", self._reconcile)

    def start(self) -> None:
        """Start; the runtime's caches must be in."""
        self._loop.start()
        self._runtime.nodes.on_change(self._changed)

    def _changed(self, key: Key, old: Object | None, node: Object | None) -> None:
        # Without an earlier version this process has just started: the node may have gone off, or on, before.
        if node is not None and (old is None or is_off(old) != is_off(node)):
            self._loop.add(key)

    def _reconcile(self, key: Key) -> float | None:
        node = self._runtime.nodes.get(key[1])
        if node is None:
            return None
        lease = self._runtime.kubelet.find(LEASE, key[1], LEASES)
        held = lease is not None and (lease.get("spec") or {}).get("holderIdentity") == OFF
        if is_off(node):
            return self._switch_off(key[1], held=held)
        if held:
            self._switch_on(key[1])
        return None

    def _switch_off(self, node: str, *, held: bool) -> float | None:
        if not held:
            taken = {"holderIdentity": OFF, "leaseDurationSeconds": YEARS}
            self._runtime.kubelet.patch(LEASE, node, {"spec": taken}, LEASES)
            log.info("%s is off", node)
        marked = [self._annotate(pod, {names.LOST: "true"}) for pod in self._pods(node, frozen=False)]
        # A pod may be bound while the machine goes off.
        return AGAIN if any(marked) or not held else None

    def _switch_on(self, node: str) -> None:
        for pod in self._pods(node, frozen=True):
            gone = {names.EXIT_CODE: REBOOTED, names.RUN_FOR: "0s", names.TERMINATION_MESSAGE: None}
            ended = gone if pods.started(pod) else {}
            self._annotate(pod, {names.LOST: None, **ended})
        released = {"holderIdentity": None, "renewTime": None, "leaseDurationSeconds": 1}
        self._runtime.kubelet.patch(LEASE, node, {"spec": released}, LEASES)
        log.info("%s is on again", node)

    def _pods(self, node: str, *, frozen: bool) -> list[Object]:
        found = self._runtime.bound_to(node)
        return [pod for pod in found if (names.LOST in pods.annotations(pod)) == frozen]

    def _annotate(self, pod: Object, changes: dict[str, str | None]) -> bool:
        """Change a pod's annotations; return whether it was still there."""
        namespace, name = key_of(pod)
        try:
            self._runtime.kubelet.annotate(kinds.POD, name, changes, namespace)
        except ApiError as error:
            if not error.missing:
                raise
            return False
        return True
