"""What simulated operators have in common: they live as long as their pod runs, as that pod's service account."""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from core.apis.kinds import Kind
from toolkit.simulator import pods
from toolkit.simulator.actors.api import Api, ApiError, Object
from toolkit.simulator.actors.informer import Informer, Key, Loop
from toolkit.simulator.actors.podlogs import PodLogs
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.manifests import owner_reference

log = logging.getLogger(__name__)

EVERY: Key = ("", "")
"""The one key of a queue whose work is about everything at once."""
HERE = "the operator's own namespace"
FOLLOWER_SECONDS = 2.0
"""How often a replica that does not act looks whether it must; Kubernetes' leases pass over after 15 s."""


class PodActor:
    """Simulates the program of one pod; `start` and `stop` are called when its containers start and end."""

    def __init__(self, runtime: Runtime, logs: PodLogs, pod: Object) -> None:
        self.runtime = runtime
        self.pod = pod
        self.namespace: str = pod["metadata"]["namespace"]
        self.api: Api = runtime.account(pod)
        self._logs = logs
        self._running: list[Informer | Loop] = []
        self.stopped = threading.Event()

    def start(self) -> None:
        """Begin to act."""
        raise NotImplementedError

    def stop(self) -> None:
        """Cease to act, without waiting for work in hand."""
        self.stopped.set()
        for running in self._running:
            running.stop()

    def log_line(self, line: str) -> None:
        """Write a line to the pod's log."""
        self._logs.append(self.pod, line)

    def watch(self, kind: Kind, loop: Loop, *, namespace: str | None = None, key: Key | None = None) -> Informer:
        """Cache a kind; every change adds `key`, or the changed object's own, to `loop`."""
        informer = Informer(
            self.api,
            kind,
            lambda changed, *_: loop.add(key or changed),
            namespace=namespace,
            listed=lambda: loop.add(key) if key else None,
        )
        self._running.append(informer)
        return informer.start()

    def loop(self, work: Callable[[Key], float | None]) -> Loop:
        """Return a started queue whose refusals also go to the pod's log."""

        def tried(key: Key) -> float | None:
            if self.stopped.is_set():
                return None
            try:
                return work(key)
            except ApiError as error:
                if error.forbidden:
                    self.log_line(f"E {error}")
                raise

        queue = Loop(f"{type(self).__name__} {self.pod['metadata']['name']}", tried).start()
        self._running.append(queue)
        return queue

    def make(self, objects: Iterable[tuple[Kind, Object]], owner: Object | None = None) -> None:
        """Apply objects in order; `owner` takes them along when it is deleted, if it is cluster-wide or beside them."""
        for kind, body in objects:
            meta = body["metadata"]
            if owner is not None and owner["metadata"].get("namespace") in (None, meta.get("namespace")):
                meta["ownerReferences"] = [owner_reference(owner)]
            self.api.apply(kind, body)


class Operator(PodActor):
    """Does all of its work at every change of what it watches, once it has seen the whole of that."""

    watched: tuple[tuple[Kind, str | None], ...]
    """Kinds, each with the namespace in which it is watched: HERE is the operator's own, None all of them."""
    installed: tuple[str, int] | None = None
    """UID and generation of the custom resource whose operands were applied last."""
    caches: Mapping[Kind, Informer] = MappingProxyType({})

    def start(self) -> None:
        """Watch."""
        self._work = self.loop(self._when_synced)
        self.caches = {
            kind: self.watch(kind, self._work, namespace=self.namespace if where == HERE else where, key=EVERY)
            for kind, where in self.watched
        }
        self.wake()  # what was listed before all caches were known

    def wake(self) -> None:
        """Do the work again soon."""
        self._work.add(EVERY)

    def reconcile(self) -> float | None:
        """Compare desired and existing objects; return the seconds after which to do it again, if any."""
        raise NotImplementedError

    def _when_synced(self, _key: Key) -> float | None:
        # The last list to come wakes it.
        synced = all(kind in self.caches and self.caches[kind].synced for kind, _ in self.watched)
        return self.reconcile() if synced else None

    def objects(self, kind: Kind) -> list[Object]:
        """Return the objects of a kind that are not being deleted, oldest first."""
        objects = [obj for obj in self.caches[kind].items() if not pods.deleting(obj)]
        return sorted(objects, key=lambda obj: (obj["metadata"]["creationTimestamp"], obj["metadata"]["name"]))

    def settle(
        self, resource: Object, made: Callable[[], Iterable[tuple[Kind, Object]]], *, missing: bool = False
    ) -> None:
        """Make what a custom resource asks for, if it has changed since, or `missing` says that some of it is gone."""
        version = (resource["metadata"]["uid"], resource["metadata"]["generation"])
        if missing or self.installed != version:
            self.make(made(), resource)
            self.installed = version

    def own(self, kind: Kind, name: str) -> Object | None:
        """Return an object of the operator's own namespace, as last seen."""
        return self.caches[kind].get(name, self.namespace)


class ReplicatedOperator(Operator):
    """One of several pods of a Deployment, of which the first that runs acts, as by a lease."""

    def _when_synced(self, key: Key) -> float | None:
        return super()._when_synced(key) if self._leads() else FOLLOWER_SECONDS

    def _leads(self) -> bool:
        replicas = [
            pod["metadata"]["name"]
            for pod in self.runtime.pods.items()
            if pod["metadata"]["namespace"] == self.namespace
            and pods.labels(pod) == pods.labels(self.pod)
            and pods.runs(pod)
        ]
        return bool(min(replicas, default="") == self.pod["metadata"]["name"])


def ready(daemon_sets: Iterable[Object | None]) -> bool:
    """Return whether all DaemonSets are there and have a pod ready on each of their nodes, at least one.

    None may have an earlier template.
    """
    return all(
        daemon_set is not None
        and (status := daemon_set.get("status") or {}).get("desiredNumberScheduled", 0) > 0
        and status.get("numberReady", 0) == status["desiredNumberScheduled"]
        and status.get("observedGeneration") == daemon_set["metadata"]["generation"]
        and _replaced(daemon_set, status)
        for daemon_set in daemon_sets
    )


def settled(daemon_set: Object | None) -> bool:
    """Return whether a DaemonSet is there, and none of its pods is missing or, with OnDelete, of an earlier template.

    Without a node to be on, none is missing.
    """
    if daemon_set is None:
        return False
    status = daemon_set.get("status") or {}
    current: bool = status.get("observedGeneration") == daemon_set["metadata"]["generation"]
    available: bool = status.get("numberAvailable", 0) == status.get("desiredNumberScheduled", 0)
    return current and available and _replaced(daemon_set, status)


def _replaced(daemon_set: Object, status: Object) -> bool:
    """Return whether no pod has an earlier template, of a DaemonSet whose pods stay until they are deleted.

    Both of NVIDIA's operators wait for that (gpu-operator, controllers/object_controls.go; network-operator,
    pkg/state/state_skel.go).
    """
    if ((daemon_set.get("spec") or {}).get("updateStrategy") or {}).get("type") != "OnDelete":
        return True
    return bool(status.get("updatedNumberScheduled", 0) == status.get("desiredNumberScheduled", 0))


def nodes_where(runtime: Runtime, images: frozenset[str], part: str = "") -> dict[str, list[Object]]:
    """Return node -> pods running there of one of the images, whose command contains `part`."""
    pods_of_node: dict[str, list[Object]] = {}
    for pod in runtime.pods.items():
        if pods.runs(pod) and pods.basename(pods.image(pod)) in images and part in pods.command(pod):
            pods_of_node.setdefault(pods.node_name(pod), []).append(pod)
    return pods_of_node
