"""Which containers ask for devices, how many pods of a kind a workload makes, and how many GPUs a machine has.

A limit that came from this project's machine files would change its findings with every new file.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from core.apis.kinds import LEADER_WORKER_SET, NODE, TRAIN_JOB
from core.apis.names import DEVICE_CLASS_PREFIX, GPU_RESOURCE, NVIDIA_PREFIX, RDMA_PREFIX
from core.apis.quantity import whole
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.pods import Container, Pod, Request

MOST_GPUS = 16
"""GPUs of the largest node that NVIDIA's device plugin serves : more are on no node."""
USUAL_GPUS = 8
"""GPUs of the usual baseboard: up to these, a node that has them can be bought from every vendor."""
NOT_KNOWN = "and how many GPUs a node has is not known: check with --stack, or set it as a parameter of the rule"
_PLACES = (("status", "allocatable", GPU_RESOURCE), ("status", "capacity", GPU_RESOURCE))


def largest_node(inventory: Inventory) -> int | None:
    """Return the GPUs of the largest Node among the objects, None without one that has any; for `Inventory.once`."""
    return max(_counts(inventory), default=None)


def _counts(inventory: Inventory) -> Iterator[int]:
    for node in inventory.of(NODE):
        for place in (*_PLACES, ("metadata", "labels", "nvidia.com/gpu.count")):
            if count := whole(node.read(*place)):
                yield count
                break


RUNNING = "containers"
_INIT = "initContainers"


_ADAPTER = re.compile(
    r"rdma|hostdev|sriov|mlnx|mellanox|connectx|bluefield|infiniband|roce|ethernet|channel|compute-domain|nics?\Z"
    r"|(?:\A|[-_.])(?:ib|eth|ens|cx|bf|hca|nic|vf|pf|dpu|rail|net|port|switch)[\d_.-]*(?:\Z|[-_.])",
    re.IGNORECASE,
)
"""What the names of NVIDIA's resources have that are no GPUs: adapters, switches, IMEX channels."""
SHARES = tuple(f"{NVIDIA_PREFIX}{share}" for share in ("gpumem", "gpucores"))
"""Resources that say how much of a GPU a container gets beside the GPU itself (HAMi)."""


@lru_cache(maxsize=1024)
def is_gpu(resource: str) -> bool:
    """Return whether a resource is a GPU, a shared one or a slice of one, by whatever name.

    The device plugin renames GPUs as configured, the one for virtual machines names them by chip and model, and each
    DeviceClass is a resource, too. So what NVIDIA offers is a GPU unless its name is that of an adapter.
    """
    for prefix in (NVIDIA_PREFIX, DEVICE_CLASS_PREFIX):
        if resource.startswith(prefix):
            return _ADAPTER.search(resource[len(prefix) :]) is None
    return False


def is_share(resource: str) -> bool:
    """Return whether a resource is a part of a GPU that the same container requests."""
    return resource.startswith(SHARES)


def device_class(resource: str) -> str:
    """Return the DeviceClass of a resource that stands for one; empty for any other."""
    return resource.removeprefix(DEVICE_CLASS_PREFIX) if resource.startswith(DEVICE_CLASS_PREFIX) else ""


def gpus(container: Container) -> tuple[Request, ...]:
    """Return the requests of a container for GPUs or slices of them; without those for none."""
    return container.once(_devices)[0]


def rdma(container: Container) -> tuple[Request, ...]:
    """Return the requests of a container for RDMA devices; without those for none."""
    return container.once(_devices)[1]


def _devices(container: Container) -> tuple[tuple[Request, ...], tuple[Request, ...]]:
    return (
        tuple([request for request in container.requests if is_gpu(request.resource) and request.count > 0]),
        tuple(
            [
                request
                for request in container.requests
                if request.resource.startswith(RDMA_PREFIX) and request.count > 0
            ]
        ),
    )


def place(request: Request) -> tuple[str, ...]:
    """Return where a request is in its container."""
    if request.claimed:
        return ("resources", "claims")
    return "resources", "limits" if request.limit is not None else "requests", request.resource


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
        for request in (*gpus(container), *rdma(container)):
            if runs_along(container):
                together[request.resource] = together.get(request.resource, 0) + request.count
            else:
                alone[request.resource] = max(alone.get(request.resource, 0), request.count)
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
    "VirtualMachineInstanceReplicaSet": ("spec", "replicas"),
    "VirtualMachinePool": ("spec", "replicas"),
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


def demands(subject: Obj) -> Iterator[tuple[Pod, dict[str, int]]]:
    """Yield the pod templates of an object that ask for GPUs or RDMA devices, with what one pod of each takes."""
    for pod in subject.pods:
        if requested := demand(pod):
            yield pod, requested


def total(subject: Obj) -> dict[str, int]:
    """Return how many of each GPU and RDMA resource all pods of an object take at a time."""
    requested: dict[str, int] = {}
    for pod, demand_of_one in demands(subject):
        pods = copies(subject, pod)
        for resource, count in demand_of_one.items():
            requested[resource] = requested.get(resource, 0) + count * pods
    return requested
