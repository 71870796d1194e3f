"""An SCC has every key that its CRD requires."""

from collections.abc import Iterator

from apis.kinds import SECURITY_CONTEXT_CONSTRAINTS
from policies.findings import Severity
from policies.objects import Obj
from policies.rule import Parameters, Remark, Rule
from policies.views.constraints import ALLOWED, DEFAULT_ADD, HOST_FIELDS, REQUIRED_DROP
from policies.world import World

_SWITCHES = (*HOST_FIELDS, "allowPrivilegedContainer", "readOnlyRootFilesystem")
_NULLABLE = (ALLOWED, DEFAULT_ADD, REQUIRED_DROP, "priority", "volumes")


def _examine(subject: Obj, _: World, __: Parameters) -> Iterator[Remark]:
    for key in sorted((*_SWITCHES, *_NULLABLE)):
        if key not in subject.tree:
            if not subject.partial:
                yield subject.remark(f"has no {key}", key)
        elif key in _SWITCHES and subject.tree[key] is None:
            yield subject.remark(f"has null for {key}, which is true or false", key)


SCC_REQUIRED_KEYS = Rule(
    name="scc-required-keys",
    what="An SCC has every key that its CRD requires; null will do for lists and the priority, not for switches.",
    why="The API server refuses the object: `priority: Required value`. Pulumi leaves nulls out of what it sends, so "
    "that an SCC which is right as YAML is refused when a program applies it.",
    remedy="Write the key: false for a switch, [] for a list, 0 for the priority",
    source="platform-facts 1.10, platform-facts 4.3",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(SECURITY_CONTEXT_CONSTRAINTS,),
)
