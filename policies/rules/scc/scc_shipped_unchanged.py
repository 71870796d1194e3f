"""An SCC of OpenShift's own gives what OpenShift ships, and no more."""

from collections.abc import Iterator, Mapping
from typing import Any

from core.apis.kinds import SECURITY_CONTEXT_CONSTRAINTS
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import brief
from policies.rule import Parameters, Rule
from policies.scc import Release
from policies.views.constraints import differing_fields, is_tighter, shipped

_USERS = ("users", "groups")
_RELEASES: tuple[Release, ...] = ("4.4", "current", "upgraded")


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    bases = [base for release in _RELEASES if (base := shipped(release).get(subject.name)) is not None]
    for field in min((_wider(subject, base) for base in bases), key=len, default=[]):
        value = subject.read(field)
        text = "absent" if value is None else brief(value)
        yield subject.violation(f"is OpenShift's own SCC, with another {field}: {text}", field)


def _wider(subject: Obj, base: Mapping[str, Any]) -> list[str]:
    """Return the fields that give more than an SCC does; who may use it is a matter of other rules."""
    fields = (field for field in differing_fields(subject.tree, base) if field in subject.tree or not subject.partial)
    return [field for field in fields if field not in _USERS and not is_tighter(field, subject.tree, base)]


SCC_SHIPPED_UNCHANGED = Rule(
    name="scc-shipped-unchanged",
    what="An SCC with the name of one that OpenShift ships (restricted, restricted-v2, anyuid, privileged, ...) equals "
    "it, whatever its users and groups are. It may be stricter.",
    why="OpenShift binds restricted-v2 to system:authenticated, and its own pods to the others: what the SCC gives is "
    "given to every account of the cluster at once, with no group or binding in any manifest. The next upgrade resets "
    "the SCC, or is blocked by it.",
    remedy="Leave the SCC as OpenShift ships it, and write one of another name, with a Role and RoleBinding",
    source="P-5, platform-facts 1.10; openshift/openshift-docs pull 33416, openshift/origin issue 17453",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(SECURITY_CONTEXT_CONSTRAINTS,),
)
