"""A container with GPUs has limits for cpu and memory, and its memory request is its limit."""

from collections.abc import Iterator

from core.apis.quantity import amount
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container, Request
from policies.rule import Parameters, Rule
from policies.views.devices import gpus

_LIMITED = ("cpu", "memory")


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
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
    parameters=Parameters,
    examine=_examine,
)
