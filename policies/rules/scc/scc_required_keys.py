"""An SCC has every key that its CRD requires."""

from collections.abc import Iterator

from core.apis.kinds import SECURITY_CONTEXT_CONSTRAINTS
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.views.constraints import ALLOWED, DEFAULT_ADD, HOST_FIELDS, REQUIRED_DROP

_SWITCHES = (*HOST_FIELDS, "allowPrivilegedContainer", "readOnlyRootFilesystem")
_NULLABLE = (ALLOWED, DEFAULT_ADD, REQUIRED_DROP, "priority", "volumes")


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for key in sorted((*_SWITCHES, *_NULLABLE)):
        if key not in subject.tree:
            if not subject.partial:
                yield subject.violation(f"has no {key}", key)
        elif key in _SWITCHES and subject.tree[key] is None:
            yield subject.violation(f"has null for {key}, which is true or false", key)


SCC_REQUIRED_KEYS = Rule(
    name="scc-required-keys",
    what="An SCC has every key that its CRD requires; null is allowed for lists and the priority, not for booleans.",
    why="A client that validates against the CRD, or an API server without OpenShift's defaulting plugin, refuses the "
    "object: `priority: Required value`. The plugin fills in missing keys with the widest value: an SCC without "
    "volumes allows every type. The same is true of nulls, which Pulumi does not send.",
    remedy="Write the key: false for a boolean, [] for a list, 0 for the priority",
    source="platform-facts 1.10, platform-facts 4.3",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(SECURITY_CONTEXT_CONSTRAINTS,),
)
