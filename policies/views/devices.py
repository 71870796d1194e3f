"""Which containers ask for devices, and how many pods of a kind a workload makes."""

from collections.abc import Iterator
from functools import lru_cache

from apis.kinds import LEADER_WORKER_SET, TRAIN_JOB
from apis.names import GPU_RESOURCE, GPU_SLICE_PREFIXES, RDMA_PREFIX
from apis.quantity import whole
from policies.objects import Obj
from policies.pods import Container, Pod
from policies.resources import Request

RUNNING = "containers"
_INIT = "initContainers"


@lru_cache(maxsize=1024)
def is_gpu(resource: str) -> bool:
    """Return whether a resource is a GPU, a shared one or a slice of one."""
    return resource == GPU_RESOURCE or resource.startswith(GPU_SLICE_PREFIXES)


def gpus(container: Container) -> tuple[Request, ...]:
    """Return the requests of a container for GPUs or slices of them; without those for none."""
    return container.once(_devices)[0]


def rdma(container: Container) -> tuple[Request, ...]:
    """Return the requests of a container for RDMA devices; without those for none."""
    return container.once(_devices)[1]


def _devices(container: Container) -> tuple[tuple[Request, ...], tuple[Request, ...]]:
    return (
        tuple([item for item in container.requests if is_gpu(item.resource) and item.count > 0]),
        tuple([item for item in container.requests if item.resource.startswith(RDMA_PREFIX) and item.count > 0]),
    )


def place(item: Request) -> tuple[str, str, str]:
    """Return where a request is in its container."""
    return "resources", "limits" if item.limit is not None else "requests", item.resource


def runs_along(container: Container) -> bool:
    """Return whether a container runs at the same time as the main ones: one of them, or a sidecar."""
    return container.group == RUNNING or (container.group == _INIT and container.tree.get("restartPolicy") == "Always")


def demand(pod: Pod) -> dict[str, int]:
    """Return how many of each GPU and RDMA resource one pod takes.

    Those of containers that run together add up; an init container that ends before the others start counts alone.
    """
    together: dict[str, int] = {}
    alone: dict[str, int] = {}
    for container in pod.containers:
        if not container.requests:
            continue
        for item in (*gpus(container), *rdma(container)):
            if runs_along(container):
                together[item.resource] = together.get(item.resource, 0) + item.count
            else:
                alone[item.resource] = max(alone.get(item.resource, 0), item.count)
    for resource, count in alone.items():
        together[resource] = max(together.get(resource, 0), count)
    return together


_COUNTS = {
    "Job": ("spec", "parallelism"),
    "CronJob": ("spec", "jobTemplate", "spec", "parallelism"),
    "Deployment": ("spec", "replicas"),
    "ReplicaSet": ("spec", "replicas"),
    "StatefulSet": ("spec", "replicas"),
    "TrainJob": ("spec", "trainer", "numNodes"),
}
_REPLICATED = "replicatedJobs"


def copies(subject: Obj, pod: Pod) -> int:
    """Return how many pods a template makes at a time; a DaemonSet's pods depend on the nodes and count as one."""
    if subject.kind == LEADER_WORKER_SET.kind:
        return _of_groups(subject, pod)
    if _REPLICATED in pod.path and subject.kind != TRAIN_JOB.kind:
        job = pod.path[: pod.path.index(_REPLICATED) + 2]
        return _number(subject, *job, "replicas") * _number(subject, *job, "template", "spec", "parallelism")
    keys = ("spec", "mpiReplicaSpecs", pod.role, "replicas") if pod.role else _COUNTS.get(subject.kind)
    return _number(subject, *keys) if keys else 1


def _of_groups(subject: Obj, pod: Pod) -> int:
    """Return how many leaders or workers the groups of a LeaderWorkerSet have; without a leader's template all of it.

    The leader is one of the group's size.
    """
    template = ("spec", "leaderWorkerTemplate")
    groups, size = _number(subject, "spec", "replicas"), _number(subject, *template, "size")
    if "leaderTemplate" in pod.path:
        return groups
    return groups * (size - 1 if subject.read(*template, "leaderTemplate") is not None else size)


def _number(subject: Obj, *keys: str | int) -> int:
    number = whole(subject.read(*keys))
    return 1 if number is None else max(number, 0)


def each_demand(subject: Obj) -> Iterator[tuple[Pod, dict[str, int]]]:
    """Yield the pod templates of an object that ask for GPUs or RDMA devices, with what one pod of each takes."""
    for pod in subject.pods:
        if found := demand(pod):
            yield pod, found
