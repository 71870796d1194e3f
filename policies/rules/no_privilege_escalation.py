"""Every container says that it needs no more privilege than it starts with."""

from collections.abc import Iterator

from policies.findings import Severity
from policies.objects import Obj
from policies.rule import Remark, Rule
from policies.views.infrastructure import Infrastructure
from policies.world import World

_FIELD = ("securityContext", "allowPrivilegeEscalation")
_UNSET = "does not set allowPrivilegeEscalation, and true is its default"


def _examine(subject: Obj, _: World, parameters: Infrastructure) -> Iterator[Remark]:
    for container in subject.containers:
        value = container.read(*_FIELD)
        if value is not False and not parameters.excepts(subject):
            yield container.remark(_UNSET if value is None else "sets allowPrivilegeEscalation: true", *_FIELD)


NO_PRIVILEGE_ESCALATION = Rule(
    name="no-privilege-escalation",
    what="Every container sets allowPrivilegeEscalation: false, the named parts of the infrastructure excepted.",
    why="The default is true: a program with the set-user-id bit in the image then makes an ordinary user root in the "
    "container, and `restricted` of 4.4 lets it. Under a stricter SCC the pod is refused at night (Allowing privilege "
    "escalation for containers is not allowed).",
    remedy="Write securityContext.allowPrivilegeEscalation: false in every container",
    source="S-6.3, E-40, platform-facts 4.3",
    severity=Severity.MANDATORY,
    parameters=Infrastructure,
    examine=_examine,
)
