"""What played operators have in common: they live as long as their pod runs, as that pod's service account."""

import logging
import threading
from collections.abc import Callable, Iterable

from apis import kinds
from apis.kinds import Kind
from simulator import names
from simulator.actors import pods
from simulator.actors.api import Api, ApiError, Object
from simulator.actors.informer import Informer, Key, Loop
from simulator.actors.podlogs import PodLogs
from simulator.actors.runtime import Runtime

log = logging.getLogger(__name__)


class PodActor:
    """Plays the program of one pod; `start` and `stop` are called when its containers start and end."""

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

    def say(self, line: str) -> None:
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

    def loop(self, work: Callable[[Key], float | None], *, threads: int = 1) -> Loop:
        """Return a started queue whose refusals also go to the pod's log."""

        def tried(key: Key) -> float | None:
            if self.stopped.is_set():
                return None
            try:
                again = work(key)
            except ApiError as error:
                if error.forbidden:
                    self.say(f"E {error}")
                raise
            return again

        queue = Loop(f"{type(self).__name__} {self.pod['metadata']['name']}", tried, threads=threads).start()
        self._running.append(queue)
        return queue

    def make(self, objects: Iterable[tuple[Kind, Object]], owner: Object | None = None) -> None:
        """Apply objects in order; `owner` takes them along when it is deleted, if it is cluster-wide or beside them."""
        for kind, body in objects:
            meta = body["metadata"]
            if owner is not None and owner["metadata"].get("namespace") in (None, meta.get("namespace")):
                meta["ownerReferences"] = [owner_reference(owner)]
            self.api.apply(kind, body)


def owner_reference(owner: Object) -> Object:
    """Return the reference by which an object belongs to `owner`."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }


def daemon_set(namespace: str, name: str, pod_spec: Object, played_by: str) -> tuple[Kind, Object]:
    """Return a DaemonSet whose pods have the label `app: name`."""
    labels = {"app": name}
    return kinds.DAEMON_SET, {
        "apiVersion": kinds.DAEMON_SET.api_version,
        "kind": kinds.DAEMON_SET.kind,
        "metadata": {"name": name, "namespace": namespace, "labels": labels, "annotations": played(played_by)},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec},
        },
    }


def deployment(namespace: str, name: str, pod_spec: Object, played_by: str) -> tuple[Kind, Object]:
    """Return a Deployment of one pod, which has the label `app: name`."""
    labels = {"app": name}
    return kinds.DEPLOYMENT, {
        "apiVersion": kinds.DEPLOYMENT.api_version,
        "kind": kinds.DEPLOYMENT.kind,
        "metadata": {"name": name, "namespace": namespace, "labels": labels, "annotations": played(played_by)},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec},
        },
    }


def played(by: str) -> dict[str, str]:
    """Return the annotation that says that an object's maker is played."""
    return {names.PLAYED_BY: f"simulator.actors: {by}"}


def ready(daemon_sets: Iterable[Object | None]) -> bool:
    """Return whether all DaemonSets are there and have a pod ready on each of their nodes, at least one."""
    return all(
        one is not None
        and (status := one.get("status") or {}).get("desiredNumberScheduled", 0) > 0
        and status.get("numberReady", 0) == status["desiredNumberScheduled"]
        and status.get("observedGeneration") == one["metadata"]["generation"]
        for one in daemon_sets
    )


def settled(one: Object | None) -> bool:
    """Return whether a DaemonSet is there and none of its pods is missing; without a node to be on, none is."""
    if one is None:
        return False
    status = one.get("status") or {}
    current: bool = status.get("observedGeneration") == one["metadata"]["generation"]
    return current and bool(status.get("numberAvailable", 0) == status.get("desiredNumberScheduled", 0))


def nodes_where(runtime: Runtime, images: frozenset[str], part: str = "") -> dict[str, list[Object]]:
    """Return node -> pods running there of one of the images, whose command contains `part`."""
    found: dict[str, list[Object]] = {}
    for pod in runtime.pods.items():
        if pods.runs(pod) and pods.basename(pods.image(pod)) in images and part in pods.command(pod):
            found.setdefault(pods.node_name(pod), []).append(pod)
    return found
