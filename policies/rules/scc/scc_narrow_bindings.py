"""No binding lets a group that is wider than one namespace use an SCC that gives more than `restricted`."""

from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase

from pydantic import Field

from core.apis.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.scc import Release
from policies.scc.rbac import GROUP, Rbac
from policies.views.accounts import accounts
from policies.views.constraints import WIDE_GROUPS, powers

# OpenShift makes a ClusterRole of this name for each of its own SCCs.
_OWN_ROLE = "system:openshift:scc:"


class SccNarrowBindings(Parameters):
    """Which groups are too wide, and which SCCs exist beside those among the objects."""

    groups: tuple[str, ...] = Field(
        default=WIDE_GROUPS,
        description="groups that are wider than one namespace, `*` matches any",
    )
    release: Release = Field(default="current", description="OpenShift release whose own SCCs exist")


def _grants(inventory: Inventory) -> Mapping[int, frozenset[str] | None]:
    """Return the SCCs that each binding grants by a role among the objects, by the binding's tree."""
    trees = (
        obj.tree for kind in (ROLE, CLUSTER_ROLE, ROLE_BINDING, CLUSTER_ROLE_BINDING) for obj in inventory.of(kind)
    )
    return {id(grant.binding): grant.names for grant in Rbac(trees).grants}


def _examine(subject: Obj, inventory: Inventory, parameters: SccNarrowBindings) -> Iterator[Violation]:
    wide = [
        entry
        for entry in subject.parts("subjects")
        if entry.text("kind") == GROUP and any(fnmatchcase(entry.text("name"), group) for group in parameters.groups)
    ]
    if not wide:
        return
    role = subject.text("roleRef", "name")
    names: Collection[str] | None = (
        {role.removeprefix(_OWN_ROLE)}
        if role.startswith(_OWN_ROLE)
        else inventory.once(_grants).get(id(subject.tree), ())
    )
    sccs = inventory.once(accounts(parameters.release)).sccs
    strong = ["every SCC"] if names is None else sorted(n for n in names if n in sccs and any(powers(Obj(sccs[n]))))
    for entry in wide if strong else ():
        listed = ", ".join(strong)[:200]
        yield entry.violation(f"lets {entry.text('name')} use {listed}, which gives more than restricted", "name")


SCC_NARROW_BINDINGS = Rule(
    name="scc-narrow-bindings",
    what="No binding lets system:authenticated or another group wider than one namespace use an SCC that allows a "
    "capability, privilege, root or the host.",
    why="`oc adm policy add-scc-to-group anyuid system:authenticated` lets every pod of the cluster run as root at "
    "once. It is the same mistake as a group in the SCC itself, one step removed.",
    remedy="Bind the role to the service accounts that need it, in their namespaces",
    source="E-13, P-5, platform-facts 4.3",
    severity=Severity.MANDATORY,
    parameters=SccNarrowBindings,
    examine=_examine,
    kinds=(ROLE_BINDING, CLUSTER_ROLE_BINDING),
    links=True,
)
