"""GPUs and slices are whole numbers, the same in requests and limits, and no more than one machine has."""

from collections.abc import Iterator

from pydantic import Field

from core.apis.names import GPU_RESOURCE
from core.apis.quantity import whole
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.pods import Container, Pod, Request
from policies.manifests.values import brief
from policies.rule import Parameters, Rule
from policies.views.devices import is_gpu, place, runs_along
from policies.views.machines import MOST_GPUS, NOT_KNOWN, USUAL_GPUS


class GpuLimit(Parameters):
    """What the largest machine has."""

    maximum: int | None = Field(
        default=None,
        gt=0,
        description="GPUs of the largest machine; default: of the stack's machines, and without a "
        f"stack unknown, so that more than {MOST_GPUS} are refused and more than {USUAL_GPUS} are undetermined",
    )


def _examine(subject: Obj, _: Inventory, parameters: GpuLimit) -> Iterator[Violation]:
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
    examine=_examine,
)
