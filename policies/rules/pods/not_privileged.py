"""No container is privileged."""

from collections.abc import Iterator

from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Rule
from policies.views.infrastructure import AGENTS, Infrastructure

_FIELD = ("securityContext", "privileged")


def _examine(subject: Obj, _: Inventory, parameters: Infrastructure) -> Iterator[Violation]:
    for container in subject.containers:
        # Any value but false counts: a text is for the API server to refuse.
        if container.read(*_FIELD) not in (None, False) and not parameters.excepts(subject):
            yield container.violation("is privileged", *_FIELD)


NOT_PRIVILEGED = Rule(
    name="not-privileged",
    what="No container is privileged; objects in the parameter infrastructure are exempt.",
    why="A privileged container is root on its node, with every device, the disks and the memory of all other tenants. "
    "GPUs and RDMA come through device plugins and do not need it. Under an ordinary account the pod is refused anyway "
    "(unable to validate against any security context constraint: Privileged containers are not allowed).",
    remedy=f"Delete privileged; set limits for nvidia.com/gpu and rdma/<name>, and add IPC_LOCK for RDMA; {AGENTS}",
    source="E-40, R-1.3, D-5.3, P-7, platform-facts 4.3",
    severity=Severity.MANDATORY,
    parameters=Infrastructure,
    examine=_examine,
)
