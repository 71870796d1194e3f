"""The actors that run now: one for each running pod of an image that has an actor."""

import logging

from toolkit.simulator import pods
from toolkit.simulator.actors import images, packages
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.informer import Key, Loop, key_of
from toolkit.simulator.actors.losses import is_off
from toolkit.simulator.actors.packages import Factory
from toolkit.simulator.actors.podactor import PodActor
from toolkit.simulator.actors.podlogs import PodLogs
from toolkit.simulator.actors.runtime import Runtime

log = logging.getLogger(__name__)


def actor_of(pod: Object) -> Factory | None:
    """Return the actor of a pod, None where it has none.

    Plugins and drivers have no actor: their pods' running is what counts (`devices`, `volumes`).
    """
    name = pods.basename(pods.image(pod))
    for programs, part, factory in packages.actors():
        if name in programs and part in pods.command(pod):
            return factory
    return None


def _is_active(pod: Object) -> bool:
    """Return whether a pod's actor is to run: it is what lets some pods pass their probes."""
    return pods.runs(pod) or (pods.started(pod) and pods.basename(pods.image(pod)) in images.PROBED)


class RunningActors:
    """Starts an actor when its pod's containers start, and stops it when they end."""

    def __init__(self, runtime: Runtime, logs: PodLogs) -> None:
        self._runtime = runtime
        self._logs = logs
        self._actors: dict[Key, tuple[tuple[str, int], PodActor]] = {}
        self._loop = Loop("actors of pods", self._reconcile)

    def start(self) -> None:
        """Start; the runtime's caches must be in."""
        self._loop.start()
        self._runtime.pods.on_change(self._changed)
        self._runtime.nodes.on_change(self._node_changed)

    def stop(self) -> None:
        """Stop all actors."""
        self._loop.stop()
        for _, actor in self._actors.values():
            actor.stop()

    def _changed(self, key: Key, old: Object | None, pod: Object | None) -> None:
        if any(version is not None and actor_of(version) for version in (old, pod)):
            self._loop.add(key)

    def _node_changed(self, key: Key, old: Object | None, node: Object | None) -> None:
        """Look at a node's pods when the machine goes off or on."""
        if old is not None and node is not None and is_off(old) != is_off(node):
            for pod in self._runtime.bound_to(key[1]):
                self._changed(key_of(pod), None, pod)

    def _reconcile(self, key: Key) -> None:
        pod = self._runtime.pods.get(key[1], key[0])
        instance = None
        if pod is not None and _is_active(pod) and not self._runtime.is_lost(pods.node_name(pod)):
            instance = (pod["metadata"]["uid"], pods.restarts(pod))
        have = self._actors.get(key)
        if have and have[0] != instance:
            have[1].stop()
            del self._actors[key]
            log.info("%s/%s stopped", *key)
            have = None
        factory = actor_of(pod) if pod else None
        if have is None and instance and pod and factory:
            actor = factory(self._runtime, self._logs, pod)
            self._actors[key] = (instance, actor)
            log.info("%s/%s started: %s", *key, type(actor).__name__)
            actor.start()
