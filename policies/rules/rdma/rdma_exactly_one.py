"""A container asks for exactly one of each rdma/<name>."""

from collections.abc import Iterator

from core.apis.names import RDMA_PREFIX
from core.apis.quantity import whole
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Tree, brief
from policies.rule import Parameters, Rule

_LONGEST = 40


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for container in subject.containers:
        for request in container.requests:
            if not request.resource.startswith(RDMA_PREFIX):
                continue
            place = ("resources", "limits" if request.limit is not None else "requests", request.resource)
            for quantity in dict.fromkeys(_text(value) for value in request.values if whole(value) != 1):
                yield container.violation(f"asks for {request.resource}: {quantity}", *place)
            if request.limit is None:
                yield container.violation(f"asks for {request.resource} in requests without the same limit", *place)


def _text(value: Tree) -> str:
    return value[:_LONGEST] if isinstance(value, str) else brief(value)


RDMA_EXACTLY_ONE = Rule(
    name="rdma-exactly-one",
    what=f"The quantity of each {RDMA_PREFIX}<name> that a container asks for is exactly 1.",
    why="One unit of a shared RDMA device is the whole device. The kubelet silently grants up to rdmaHcaMax units, so "
    "2 gains nothing and takes a place from another pod (0/2 nodes are available: Insufficient rdma/shared_ib0).",
    remedy=f'Write "1" for each {RDMA_PREFIX}<name>; for more bandwidth ask for several different ones',
    source="R-3.4.2-7, E-18",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
)
