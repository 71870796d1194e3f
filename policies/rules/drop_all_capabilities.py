"""Every container drops all capabilities and adds what it needs."""

from collections.abc import Iterator

from policies.findings import Severity
from policies.inventory import Inventory
from policies.objects import Obj
from policies.rule import Rule
from policies.views.infrastructure import Infrastructure
from policies.violation import Violation

_FIELD = ("securityContext", "capabilities", "drop")


def _examine(subject: Obj, _: Inventory, parameters: Infrastructure) -> Iterator[Violation]:
    for container in subject.containers:
        dropped = container.capabilities("drop")
        if "ALL" not in dropped and not parameters.excepts(subject):
            kept = f"drops {', '.join(dropped)[:200]} only" if dropped else "drops no capability"
            yield container.violation(f"{kept}, so that it keeps the runtime's default ones", *_FIELD)


DROP_ALL_CAPABILITIES = Rule(
    name="drop-all-capabilities",
    what="Every container drops ALL capabilities and adds back what it needs, such as IPC_LOCK.",
    why="A runtime gives every container more than ten capabilities, of which `restricted` of 4.4 drops four. Training "
    "needs none, and each helps an intruder in a job. Runtimes drop before they add, so nothing added is lost.",
    remedy="Write securityContext.capabilities.drop: [ALL] in every container",
    source="S-6.3, platform-facts 4.1",
    severity=Severity.ADVISORY,
    parameters=Infrastructure,
    examine=_examine,
)
