"""An SCC that gives more than `restricted` names no group that is wider than one namespace."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from pydantic import Field

from core.apis.kinds import SECURITY_CONTEXT_CONSTRAINTS
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.views.constraints import WIDE_GROUPS, is_shipped, powers


class SccNarrowGroups(Parameters):
    """Which groups are too wide."""

    groups: tuple[str, ...] = Field(
        default=WIDE_GROUPS,
        description="groups that are wider than one namespace, `*` matches any",
    )


def _examine(subject: Obj, _: Inventory, parameters: SccNarrowGroups) -> Iterator[Violation]:
    wide = [
        (index, group)
        for index, group in enumerate(subject.entries("groups"))
        if isinstance(group, str) and any(fnmatchcase(group, pattern) for pattern in parameters.groups)
    ]
    rights = "; ".join(powers(subject)) if wide else ""
    if rights and not is_shipped(subject):
        for index, group in wide:
            yield subject.violation(f"gives {group} what only some may have: {rights}", "groups", index)


SCC_NARROW_GROUPS = Rule(
    name="scc-narrow-groups",
    what="An SCC that allows or adds a capability, privilege, root or the host names no group wider than one "
    "namespace, such as system:authenticated; system:serviceaccounts:<namespace> is narrow enough.",
    why="With system:authenticated every account of the cluster may use the SCC. Roles and bindings per namespace then "
    "have no effect: no pod is ever refused, and whoever copies the SCC from `restricted` copies the group too.",
    remedy="Delete the group and grant the verb use on this SCC by a Role and RoleBinding in each namespace",
    source="E-13, R-3.4.3-2, P-5, platform-facts 0 and 4.3",
    severity=Severity.MANDATORY,
    parameters=SccNarrowGroups,
    examine=_examine,
    kinds=(SECURITY_CONTEXT_CONSTRAINTS,),
)
