"""No container asks for more privilege than it starts with."""

from collections.abc import Iterator

from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Rule
from policies.views.infrastructure import AGENTS, Infrastructure

_FIELD = ("securityContext", "allowPrivilegeEscalation")


def _examine(subject: Obj, _: Inventory, parameters: Infrastructure) -> Iterator[Violation]:
    for container in subject.containers:
        if container.read(*_FIELD) is True and not parameters.excepts(subject):
            yield container.violation("sets allowPrivilegeEscalation: true", *_FIELD)


NO_PRIVILEGE_ESCALATION = Rule(
    name="no-privilege-escalation",
    what="No container sets allowPrivilegeEscalation: true; objects in the parameter infrastructure are exempt.",
    why="A setuid program in the image makes an ordinary user root in the container. `restricted` of 4.4 allows it; "
    "under restricted-v2 the pod is refused when it is created (Allowing privilege escalation for containers is not "
    "allowed), perhaps long after its workload was applied.",
    remedy=f"Write securityContext.allowPrivilegeEscalation: false; {AGENTS}",
    source="S-6.3, E-40, platform-facts 4.3",
    severity=Severity.MANDATORY,
    parameters=Infrastructure,
    examine=_examine,
)
