"""Warning events: whose they are, whether they still count, and what they say in few words."""

from collections.abc import Mapping
from typing import Any, cast

from core.apis.client import ApiError
from toolkit.engine.prediction.blocking_events import cause
from toolkit.engine.prediction.inputs import ObjectType
from toolkit.simulator.provider.cluster_objects import Address, Objects
from toolkit.simulator.provider.wait_loops import BlockingEvents

MPI_JOB = Address(ObjectType("kubeflow.org", "v1alpha2", "MPIJob"), "adas", "nccl")
DENIED = (
    'create Pod nccl-worker-0 in StatefulSet nccl-worker failed error: pods "nccl-worker-0" is forbidden: unable to '
    'validate against any security context constraint: [provider "anyuid": Forbidden: not usable by user or '
    'serviceaccount, provider restricted: .containers[0].capabilities.add: Invalid value: "IPC_LOCK": capability may '
    'not be added, provider "scc-for-mpi": Forbidden: not usable by user or serviceaccount]'
)


def _object(kind: str, name: str, owner: str = "", **more: Any) -> dict[str, Any]:
    owners = [{"apiVersion": "kubeflow.org/v1alpha2", "kind": "MPIJob", "name": owner, "uid": f"uid-{owner}"}]
    metadata = {"name": name, "uid": f"uid-{name}", "ownerReferences": owners if owner else []}
    return {"kind": kind, "metadata": metadata, **more}


def _event(number: int, kind: str, name: str, reason: str, message: str) -> dict[str, Any]:
    about = {"apiVersion": "v1", "kind": kind, "name": name, "uid": f"uid-{name}", "namespace": "adas"}
    return {"metadata": {"uid": f"event-{number}"}, "involvedObject": about, "reason": reason, "message": message}


class _Cluster:
    def __init__(self, *objects: dict[str, Any]) -> None:
        self._objects = {(each["kind"], each["metadata"]["name"]): each for each in objects}
        self.events: list[dict[str, Any]] = []
        self.refuses = False

    def get(self, address: Address) -> Mapping[str, Any] | None:
        return self._objects.get((address.kind.kind, address.name))

    def warnings(self, namespace: str) -> list[dict[str, Any]]:
        assert namespace == "adas"
        if self.refuses:
            raise ApiError(403, "Forbidden", "events is forbidden")
        return self.events


def _hindrances(cluster: _Cluster) -> BlockingEvents:
    return BlockingEvents(cast("Objects", cluster), MPI_JOB, "uid-nccl")


def test_refused_workers_are_told_once() -> None:
    """A job whose workers are refused, and an update that waits for it in silence, or says so every two seconds."""
    cluster = _Cluster(_object("StatefulSet", "nccl-worker", "nccl", spec={"replicas": 2}))
    blocking = _hindrances(cluster)
    assert blocking.new() == []
    cluster.events = [_event(1, "StatefulSet", "nccl-worker", "FailedCreate", DENIED)]
    (text,) = blocking.new()
    assert text == (
        "FailedCreate of StatefulSet nccl-worker: unable to validate against any security context constraint: "
        '[provider restricted: .containers[0].capabilities.add: Invalid value: "IPC_LOCK": capability may not be '
        "added; not usable by its account: anyuid, scc-for-mpi]"
    )
    cluster.events.append(_event(2, "StatefulSet", "nccl-worker", "FailedCreate", DENIED))
    assert blocking.new() == []
    assert blocking.causes == [text]


def test_sixteen_pods_wait_for_one_reason() -> None:
    """One line a worker for what the scheduler says about all of them."""
    pods = [_object("Pod", f"nccl-worker-{number}", "nccl") for number in range(16)]
    cluster = _Cluster(*pods)
    message = "0/7 nodes are available: 2 Insufficient nvidia.com/gpu. preemption: 0/7 nodes are available: no."
    cluster.events = [
        _event(number, "Pod", pod["metadata"]["name"], "FailedScheduling", message) for number, pod in enumerate(pods)
    ]
    assert _hindrances(cluster).new() == [
        "FailedScheduling of Pod nccl-worker-0: 0/7 nodes are available: 2 Insufficient nvidia.com/gpu"
    ]


def test_what_is_past_or_somebody_elses_is_not_told() -> None:
    """A pod that has its node by now, the job of last time, or another job, held against this one."""
    stranger = _object("StatefulSet", "other-worker", "other")
    before = _object("StatefulSet", "nccl-worker", "nccl")
    before["metadata"]["uid"] = "uid-of-today"
    cluster = _Cluster(
        stranger,
        before,
        _object("Pod", "nccl-launcher-x", "nccl", spec={"nodeName": "worker03"}),
        _object("Job", "nccl-launcher", "nccl", status={"active": 1}),
    )
    cluster.events = [
        _event(1, "StatefulSet", "other-worker", "FailedCreate", DENIED),
        _event(2, "StatefulSet", "nccl-worker", "FailedCreate", DENIED),
        _event(3, "Pod", "nccl-launcher-x", "FailedScheduling", "0/7 nodes are available"),
        _event(4, "Job", "nccl-launcher", "FailedCreate", DENIED),
        _event(5, "Pod", "gone", "FailedScheduling", "0/7 nodes are available"),
    ]
    assert _hindrances(cluster).new() == []


def test_events_that_may_not_be_read() -> None:
    """A wait that fails since its user may not list events."""
    cluster = _Cluster()
    cluster.refuses = True
    assert _hindrances(cluster).new() == []


def test_quota_in_few_words() -> None:
    """The cause behind half a line of what every refusal repeats."""
    message = 'Error creating: pods "x-9vxkl" is forbidden: exceeded quota: gpus, requested: 8, used: 16, limited: 16'
    assert cause(_event(1, "Job", "x", "FailedCreate", message)) == (
        "FailedCreate of Job x: exceeded quota: gpus, requested: 8, used: 16, limited: 16"
    )
