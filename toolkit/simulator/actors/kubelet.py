"""The kubelet of every node: decides when a pod's containers start and how they end; kwok's stages do it.

It reads the cluster and sets annotations (`names`), so a new process goes on where an old one was killed.
"""

import hashlib
import logging
import time

from core.apis import kinds
from core.simulated import SIMULATED_BY
from toolkit.simulator import names, pods
from toolkit.simulator.actors import (
    devices,
    evictions,
    gates,
    images,
    launcher,
    multus,
    pulls,
    resource_claims,
    training_runs,
    volumes,
    workload,
)
from toolkit.simulator.actors.api import ApiError, Object, now
from toolkit.simulator.actors.informer import Key, Loop, key_of
from toolkit.simulator.actors.job_inputs import launched
from toolkit.simulator.actors.multus import NetworkError, Networks
from toolkit.simulator.actors.podlogs import PodLogs
from toolkit.simulator.actors.resource_claims import ResourceClaims
from toolkit.simulator.actors.resource_drivers import PrepareError
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.actors.suite_runner import SuiteRunners
from toolkit.simulator.actors.training_runs import TrainingRuns
from toolkit.simulator.manifests import manifest

log = logging.getLogger(__name__)

THREADS = 4
PULL_AGAIN = 1.0
"""Seconds after which a pull that has failed, or is under way, is checked again."""


class Kubelet:
    """Opens the gates of pods: volumes, init containers, and the end of work that ends."""

    def __init__(self, runtime: Runtime, logs: PodLogs) -> None:
        self._runtime = runtime
        self._logs = logs
        self._claims = ResourceClaims(runtime)
        self._loop = Loop("kubelet", self._reconcile, threads=THREADS)
        self._suites = SuiteRunners(runtime, self._loop.add)
        self._trainings = TrainingRuns(runtime, logs)
        self._networks = Networks(runtime.networks, runtime.pods, self._former)
        self._waiting: dict[Key, str] = {}
        """Pods that wait for something, and the node whose pods they wait for; a launcher waits for those of all."""
        self._decided: dict[Key, tuple[str, dict[str, str | None]]] = {}
        """How pods that run end, with their UID: until the cache shows it, the pod that they met may be gone again."""
        self._last_event: dict[Key, str] = {}
        self._pulling: dict[str, float] = {}
        """Pods whose images are being pulled, by their UID, and when that began."""

    def start(self) -> None:
        """Start; the runtime's caches must be in."""
        self._loop.start()
        self._claims.start()
        self._runtime.pods.on_change(self._pod_changed)
        for cache in self._runtime.caches[2:]:
            cache.on_change(lambda *_: self._wake())

    def _pod_changed(self, key: Key, old: Object | None, pod: Object | None) -> None:
        if pod is None:
            if old is not None:
                self._suites.forget(old)
                self._trainings.forget(old)
            self._waiting.pop(key, None)
            self._decided.pop(key, None)
            self._last_event.pop(key, None)
        elif pods.node_name(pod):
            self._loop.add(key)
        # A plugin or a worker that starts or goes may be what another pod waits for.
        if (old is not None and pods.runs(old)) != (pod is not None and pods.runs(pod)):
            version = pod or old
            self._wake(pods.node_name(version) if version else None)

    def _wake(self, node: str | None = None) -> None:
        for key, where in tuple(self._waiting.items()):
            if node is None or where in ("", node):
                self._loop.add(key)

    def _reconcile(self, key: Key) -> float | None:
        namespace, name = key
        pod = self._runtime.pods.get(name, namespace)
        if pod is None or not pods.node_name(pod) or pods.deleting(pod) or self._runtime.is_lost(pods.node_name(pod)):
            return None
        if (status := evictions.status(pod)) is not None:
            self._runtime.kubelet.patch(kinds.POD, name, {"status": status}, namespace, sub="status")
            self._record_event(key, pod, "Evicted", status["message"])
            return None
        if self._pulls(key, pod):
            return PULL_AGAIN
        annotations = self._annotations(key, pod)
        have = pods.annotations(pod)
        changes = {name: value for name, value in annotations.items() if have.get(name) != value}
        again = training_runs.TICK if self._trainings.goes_on(pod) else None
        if not changes:
            return resource_claims.AGAIN if resource_claims.has_to_prepare(pod) else again
        try:
            self._runtime.kubelet.annotate(kinds.POD, name, changes, namespace)
        except ApiError as error:
            if not error.missing:
                raise
        return again

    def _pulls(self, key: Key, pod: Object) -> bool:
        """Return whether an image of a pod is not on its node yet; its containers start only then."""
        if pods.phase(pod) != "Pending" or not pods.accepted(pod) or names.VOLUMES in pods.annotations(pod):
            return False
        uid, namespace = pod["metadata"]["uid"], key[0]
        pull = pulls.pull(pod, self._runtime.nodes.get(pods.node_name(pod)))
        if pull is not None and pull.error:
            again = pulls.reason(pod) == pulls.FAILED
            if pulls.reason(pod) != pulls.BACK_OFF:
                status = pulls.waiting(pod, pull, again=again)
                self._runtime.kubelet.patch(kinds.POD, key[1], {"status": status}, namespace, sub="status")
            self._record_event(key, pod, "Failed", pull.error)
            return True
        if pull is not None and time.monotonic() - self._pulling.setdefault(uid, time.monotonic()) < pull.seconds:
            self._record_event(key, pod, "Pulling", f'Pulling image "{pull.image}"', kind="Normal")
            return True
        self._pulling.pop(uid, None)
        if pulls.reason(pod):
            self._runtime.kubelet.patch(kinds.POD, key[1], {"status": pulls.pulled(pod)}, namespace, sub="status")
            return True
        return False

    def _annotations(self, key: Key, pod: Object) -> dict[str, str | None]:
        """Return the annotations that the pod should have now."""
        have = pods.annotations(pod)
        waited = pods.phase(pod) == "Running" and pods.finite(pod) and names.EXIT_CODE not in have
        if waited or pods.crashed(pod):
            self._waiting.pop(key, None)
            return self._restart_annotations(pod)
        if pods.phase(pod) != "Pending" or not pods.accepted(pod):
            return {}
        annotations: dict[str, str | None] = {
            names.VOLUMES: names.READY,
            SIMULATED_BY: "kwok and toolkit.simulator.actors",
        }
        annotations |= _probed(pod)
        if have.get(names.VOLUMES) != names.READY:
            # Later additions to the waiting set are seen only if the pod is in it before the look.
            self._waiting[key] = pods.node_name(pod)
            joined = self._sandbox(key, pod)
            if joined is None:
                return {}
            annotations |= joined
            pod = resource_claims.with_devices(pod, joined.get(names.DEVICES))
        if pod["spec"].get("initContainers"):
            self._waiting[key] = "" if launcher.is_launcher(pod) else pods.node_name(pod)
            if gates.waits(pod, self._runtime):
                return annotations
            annotations[names.INIT] = names.DONE
        self._waiting.pop(key, None)
        if fault := gates.fault(pod, self._runtime):
            return annotations | self._failing(pod, fault)
        return annotations | (self._exit_annotations(pod) if pods.finite(pod) and names.EXIT_CODE not in have else {})

    def _exit_annotations(self, pod: Object) -> dict[str, str | None]:
        self._waiting[key_of(pod)] = ""  # before the look, as above
        ended = self._trainings.outcome(pod)
        if ended is None:
            ended = self._suites.outcome(pod) or self._ended(pod)
            self._logs.set_lines(pod, ended.lines)
        if ended.exit_code is None:
            return {}
        self._waiting.pop(key_of(pod), None)
        self._logs.serve(pod)
        annotations = {
            names.EXIT_CODE: str(ended.exit_code),
            names.RUN_FOR: f"{ended.seconds:g}s",
            names.TERMINATION_MESSAGE: workload.message_shown(pod, ended) or None,
        }
        self._decided[key_of(pod)] = pod["metadata"]["uid"], annotations
        return annotations

    def _ended(self, pod: Object) -> workload.Outcome:
        if refused := launcher.unreachable(pod, self._runtime):
            return workload.failed(pod, refused)
        seconds = workload.takes(pod, self._runtime.settings.run_seconds)
        job = launched(pod, self._runtime, seconds)
        ended = workload.outcome(pod, job)
        return self._trainings.begin(pod, ended, job) if ended.steps is not None else ended

    def _restart_annotations(self, pod: Object) -> dict[str, str | None]:
        """Return the annotations of a pod that has crashed, or that runs and waits for another one."""
        if pods.finite(pod):
            uid, decided = self._decided.get(key_of(pod), ("", {}))
            current = uid == pod["metadata"]["uid"] and not pods.crashed(pod)
            return decided if current else self._exit_annotations(pod)
        if gates.fault(pod, self._runtime):
            return {}
        return {**dict.fromkeys((names.EXIT_CODE, names.RUN_FOR, names.UNREADY)), **_probed(pod)}

    def _failing(self, pod: Object, fault: str) -> dict[str, str | None]:
        self._logs.set_lines(pod, (*workload.introduction(pod), *fault.split("; ")))
        return {
            names.UNREADY: "true",
            names.EXIT_CODE: "1",
            names.RUN_FOR: "0s",
            names.TERMINATION_MESSAGE: fault,
        }

    def _former(self, name: str) -> set[str]:
        node = self._runtime.nodes.get(name)
        return devices.ports(self._runtime.profile(node), node)[1] if node else set()

    def _sandbox(self, key: Key, pod: Object) -> dict[str, str | None] | None:
        """Return the pod's network status and devices, None while volumes, claims or networks are missing."""
        if trouble := volumes.missing(pod, self._runtime):
            self._record_event(key, pod, "FailedMount", trouble[0])
            return None
        try:
            devices = self._claims.prepare(pod)
        except PrepareError as error:
            self._record_event(key, pod, resource_claims.EVENT, str(error))
            return None
        try:
            joined = self._networks.join(pod)
        except NetworkError as error:
            self._record_event(key, pod, "FailedCreatePodSandBox", _no_sandbox(pod, str(error)))
            return None
        added = {multus.STATUS: joined, names.DEVICES: devices}
        return {name: text for name, text in added.items() if text}

    def _record_event(self, key: Key, pod: Object, reason: str, why: str, kind: str = "Warning") -> None:
        if self._last_event.get(key) == why:
            return
        self._last_event[key] = why
        namespace, name = key_of(pod)
        event = manifest(
            kinds.EVENT,
            f"{name}.{hashlib.sha256(why.encode()).hexdigest()[:12]}",
            namespace,
            involvedObject={
                "apiVersion": "v1",
                "kind": "Pod",
                "name": name,
                "namespace": namespace,
                "uid": pod["metadata"]["uid"],
            },
            type=kind,
            reason=reason,
            message=why,
            source={"component": "kubelet", "host": pods.node_name(pod)},
            firstTimestamp=now(),
            lastTimestamp=now(),
            count=1,
        )
        log.info("%s/%s waits: %s", namespace, name, why)
        try:
            self._runtime.kubelet.create(kinds.EVENT, event, namespace)
        except ApiError as error:
            if not (error.conflict or error.missing):
                log.warning("%s", error)


def _probed(pod: Object) -> dict[str, str | None]:
    """Return what keeps a pod unready at its start: its actor removes that."""
    return {names.UNREADY: "true"} if pods.basename(pods.image(pod)) in images.PROBED else {}


def _no_sandbox(pod: Object, why: str) -> str:
    meta = pod["metadata"]
    return (
        "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to create pod network sandbox: error"
        f' adding pod {meta["namespace"]}_{meta["name"]} to CNI network "multus-cni-network": {why}'
    )
