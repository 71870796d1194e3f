"""How many GPUs a container asks for, and how much memory beside them."""

from collections.abc import Iterator

from pydantic import Field

from core.apis.names import GPU_RESOURCE
from core.apis.quantity import amount, whole
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.pods import Container, Pod, Request
from policies.manifests.values import brief
from policies.rule import Parameters, Rule, Severity
from policies.views.devices import MOST_GPUS, NOT_KNOWN, USUAL_GPUS, gpus, is_gpu, is_share, place, runs_along


class GpuLimit(Parameters):
    """What the largest machine has."""

    maximum: int | None = Field(
        default=None,
        gt=0,
        description="GPUs of the largest machine; default: of the stack's machines, and without a "
        f"stack unknown, so that more than {MOST_GPUS} are refused and more than {USUAL_GPUS} are undetermined",
    )


def _gpu_limit(subject: Obj, _: Inventory, parameters: GpuLimit) -> Iterator[Violation]:
    for pod in subject.pods:
        gpus = [
            (container, request)
            for container in pod.containers
            for request in container.requests
            if is_gpu(request.resource)
        ]
        if gpus:
            yield from _pod(pod, gpus, parameters.maximum)


def _pod(pod: Pod, gpus: list[tuple[Container, Request]], maximum: int | None) -> Iterator[Violation]:
    for container, request in gpus:
        yield from _request(container, request, maximum)
    gpus = [(container, request) for container, request in gpus if request.resource == GPU_RESOURCE]
    # Init containers run one after another; only those that run at the same time add up.
    total = sum([request.count for container, request in gpus if runs_along(container)])
    least = maximum or USUAL_GPUS
    if total > least and all(request.count <= least for _, request in gpus):
        yield from _amount(
            pod, f"asks for {total} of {GPU_RESOURCE} in all its containers", total, maximum, "containers"
        )


def _amount(part: Part, message: str, count: int, maximum: int | None, *place: str) -> Iterator[Violation]:
    """Yield that more GPUs are requested than a node has, or than every node has where no machine is known."""
    if count > (maximum or MOST_GPUS):
        largest = f"the largest machine has {maximum}" if maximum else f"no machine has more than {MOST_GPUS}"
        yield part.violation(f"{message}, and {largest}", *place)
    else:
        yield part.unverified(f"{message}, {NOT_KNOWN}", *place)


def _request(container: Container, request: Request, maximum: int | None) -> Iterator[Violation]:
    path, resource = place(request), request.resource
    broken = [value for value in request.values if (number := whole(value)) is None or number < 0]
    if broken:
        yield container.violation(f"asks for {resource}: {brief(broken[0])}, which is not a whole number", *path)
        return
    if request.limit is None:
        yield container.violation(f"asks for {resource} in requests without the same limit", *path)
    elif request.request is not None and not request.hidden and whole(request.request) != whole(request.limit):
        yield container.violation(f"requests {request.request} of {resource} and limits it to {request.limit}", *path)
    if resource == GPU_RESOURCE and request.count > (maximum or USUAL_GPUS):
        yield from _amount(container, f"asks for {request.count} of {resource}", request.count, maximum, *path)


GPU_LIMIT = Rule(
    name="gpu-limit",
    what=f"A quantity of {GPU_RESOURCE}, shared GPUs or GPU slices is a whole number, equal in requests and limits; "
    f"{GPU_RESOURCE} is at most what one machine has.",
    why="A pod runs on one node. One that asks for more GPUs than a node has stays Pending forever (0/2 nodes are "
    "available: Insufficient nvidia.com/gpu). The API server refuses fractions and unequal values.",
    remedy=f"Set {GPU_RESOURCE} under limits only, to at most what a machine has; spread larger jobs over more workers",
    source="R-4.3-2, R-4.3-8, R-4.4-10",
    severity=Severity.MANDATORY,
    parameters=GpuLimit,
    examine=_gpu_limit,
)


def _gpu_one_container(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for pod in subject.pods:
        if len(pod.containers) == 1:
            continue
        askers = [
            (container, requests)
            for container in pod.containers
            if runs_along(container) and (requests := gpus(container))
        ]
        for container, requests in askers[1:]:
            yield container.violation(
                f"asks for {requests[0].resource} beside container {askers[0][0].name}, which asks for GPUs already",
                *place(requests[0]),
            )


GPU_ONE_CONTAINER = Rule(
    name="gpu-one-container",
    what="At most one of the containers that run together in a pod asks for GPUs. "
    "An init container that ends before the others start does not count.",
    why="If a pod's GPUs are split between containers, each container sees only its own devices: NCCL falls back from "
    "NVLink to copies through the host, or the ranks hang at ncclCommInitRank.",
    remedy="Let one container ask for all GPUs of the pod, or give each container a pod of its own",
    source="R-4.4-10, P-4",
    severity=Severity.MANDATORY,
    examine=_gpu_one_container,
)


def _gpu_whole_or_slice(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for pod in subject.pods:
        resources = {request.resource for container in pod.containers for request in gpus(container)}
        if len(resources) > 1 and len(resources := {resource for resource in resources if not is_share(resource)}) > 1:
            kinds = ", ".join(sorted(resources))[:200]
            yield pod.violation(
                f"asks for {kinds} in one pod: each has a quota of its own, and none counts both", "containers"
            )


GPU_WHOLE_OR_SLICE = Rule(
    name="gpu-whole-or-slice",
    what=f"A pod asks for only one kind of GPU resource: {GPU_RESOURCE}, a shared GPU, or slices of one size "
    "(nvidia.com/mig-*).",
    why="Quotas and queues count each resource separately, so a tenant that has used up its whole GPUs can still take "
    "slices. CUDA sees either one slice or whole GPUs, never both: the rest is held for nothing.",
    remedy="Ask for one of them; split programs of different sizes into separate jobs",
    source="D-2.7, P-13; docs.nvidia.com/datacenter/tesla/mig-user-guide",
    severity=Severity.MANDATORY,
    examine=_gpu_whole_or_slice,
)


_LIMITED = ("cpu", "memory")


def _gpu_memory_limit(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for container in subject.containers:
        if gpus(container):
            yield from _container(container)


def _container(container: Container) -> Iterator[Violation]:
    by_resource = {request.resource: request for request in container.requests if request.resource in _LIMITED}
    missing = [name for name in _LIMITED if name not in by_resource or by_resource[name].limit is None]
    if missing:
        yield container.violation(f"asks for GPUs and has no limit for {' and '.join(missing)}", "resources", "limits")
    if "memory" in by_resource and _differs(by_resource["memory"]):
        memory = by_resource["memory"]
        yield container.violation(
            f"requests {memory.request} of memory and limits it to {memory.limit}", "resources", "requests", "memory"
        )


def _differs(memory: Request) -> bool:
    request, limit = amount(memory.request), amount(memory.limit)
    return request is not None and limit is not None and request != limit


GPU_MEMORY_LIMIT = Rule(
    name="gpu-memory-limit",
    what="A container that asks for GPUs has limits for cpu and memory, and its memory request equals its memory "
    "limit.",
    why="Pinned memory and /dev/shm cannot be reclaimed. A container that requests less than it uses is the first that "
    "the kernel kills when the node runs short (OOMKilled, exit code 137). One without limits takes other pods down "
    "with it, and one lost worker ends the whole job.",
    remedy="Set limits for cpu and memory, and leave the memory request out or set it to the limit",
    source="platform-facts 4.3 rule 14",
    severity=Severity.ADVISORY,
    examine=_gpu_memory_limit,
)
