"""Who may use an SCC, and whose pods one admits."""

from collections.abc import Callable, Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache

from pydantic import Field

from core.apis.kinds import CLUSTER_ROLE_BINDING, ROLE_BINDING, SECURITY_CONTEXT_CONSTRAINTS
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Pod
from policies.rule import Parameters, Rule, Severity
from policies.scc import Release
from policies.scc.rbac import GROUP, RBAC_KINDS, Grant, Rbac, Subject
from policies.scc.shipped import shipped_roles
from policies.views.accounts import account_of, accounts, exempt
from policies.views.admission import admission, hidden
from policies.views.admitted_pods import Admitting, missing_objects
from policies.views.constraints import WIDE_GROUPS, is_shipped, powers
from policies.views.tenants import TENANTS, Tenancy, is_tenants


class SccNarrowGroups(Parameters):
    """Which groups are too wide."""

    groups: tuple[str, ...] = Field(
        default=WIDE_GROUPS, description="groups that are wider than one namespace, `*` matches any"
    )


def _scc_narrow_groups(subject: Obj, _: Inventory, parameters: SccNarrowGroups) -> Iterator[Violation]:
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
    examine=_scc_narrow_groups,
    kinds=(SECURITY_CONTEXT_CONSTRAINTS,),
)


# OpenShift makes a ClusterRole of this name for each of its own SCCs.
_OWN_ROLE = "system:openshift:scc:"


class SccNarrowBindings(Parameters):
    """Which groups are too wide, and which SCCs exist beside those among the objects."""

    groups: tuple[str, ...] = Field(
        default=WIDE_GROUPS, description="groups that are wider than one namespace, `*` matches any"
    )
    release: Release = Field(default="current", description="OpenShift release whose own SCCs exist")


def _granted_names(inventory: Inventory) -> Mapping[int, frozenset[str] | None]:
    """Return the SCCs that each binding grants by a role among the objects, by the binding's tree."""
    trees = (obj.tree for kind in RBAC_KINDS for obj in inventory.of(kind))
    return {id(grant.binding): grant.names for grant in Rbac(trees).grants}


def _scc_narrow_bindings(subject: Obj, inventory: Inventory, parameters: SccNarrowBindings) -> Iterator[Violation]:
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
        else inventory.once(_granted_names).get(id(subject.tree), ())
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
    examine=_scc_narrow_bindings,
    kinds=(ROLE_BINDING, CLUSTER_ROLE_BINDING),
    links=True,
)


class SccTenantAccounts(Tenancy):
    """Which SCCs tenants may use, and whose accounts are operators'."""

    sccs: tuple[str, ...] = Field(default=("scc-for-mpi",), description="SCCs that tenants may use")
    release: Release = Field(default="current", description="OpenShift release whose own SCCs exist")


@cache
def _account_grants(release: Release) -> Callable[[Inventory], Mapping[int, Grant]]:
    """Return what makes the grants of bindings, by the binding's tree; for `Inventory.once`."""

    def make(inventory: Inventory) -> Mapping[int, Grant]:
        trees = (obj.tree for kind in RBAC_KINDS for obj in inventory.of(kind))
        return {id(grant.binding): grant for grant in Rbac(trees, shipped_roles(release)).grants}

    return make


def _scc_tenant_accounts(subject: Obj, inventory: Inventory, parameters: SccTenantAccounts) -> Iterator[Violation]:
    if subject.kind == SECURITY_CONTEXT_CONSTRAINTS.kind:
        yield from _named(subject, parameters)
        return
    grant = inventory.once(_account_grants(parameters.release)).get(id(subject.tree))
    strong = _strong(grant, inventory, parameters) if grant else ""
    for grantee in grant.subjects if grant and strong else ():
        if is_tenants(grantee, parameters.exempt_namespaces):
            yield subject.violation(
                f"lets {grantee} use {strong}, which gives more than restricted", "subjects", grantee.index
            )


def _strong(grant: Grant, inventory: Inventory, parameters: SccTenantAccounts) -> str:
    if grant.names is None:
        return "every SCC"
    sccs = inventory.once(accounts(parameters.release)).sccs
    names = (name for name in sorted(grant.names.difference(parameters.sccs)) if name in sccs)
    return ", ".join(name for name in names if any(powers(Obj(sccs[name]))))[:200]


def _named(scc: Obj, parameters: SccTenantAccounts) -> Iterator[Violation]:
    holders = [(field, index, name) for field in ("users", "groups") for index, name in enumerate(scc.entries(field))]
    rights = "; ".join(powers(scc))[:300] if holders and not is_shipped(scc) else ""
    for field, index, name in holders if rights else ():
        kind = GROUP if field == "groups" else "User"
        if isinstance(name, str) and is_tenants(Subject(kind, name, "", index), parameters.exempt_namespaces):
            yield scc.violation(f"gives {name} more than restricted: {rights}", field, index)


SCC_TENANT_ACCOUNTS = Rule(
    name="scc-tenant-accounts",
    what="Apart from scc-for-mpi, no account of a tenant may use an SCC that gives more than `restricted`: neither "
    "through a binding, including one of cluster-admin, nor by name in the SCC itself.",
    why="An SCC of another name with IPC_LOCK, or OpenShift's own privileged, escapes every rule about scc-for-mpi. "
    "The account's pods then get the devices of their node: /dev/nvidia*, /dev/infiniband, the disks.",
    remedy=f"Bind ServiceAccount mpi to a Role that may use scc-for-mpi, and nothing else; {TENANTS}",
    source="P-5, R-3.4.3-3, E-13, platform-facts 4.3",
    severity=Severity.MANDATORY,
    parameters=SccTenantAccounts,
    examine=_scc_tenant_accounts,
    kinds=(ROLE_BINDING, CLUSTER_ROLE_BINDING, SECURITY_CONTEXT_CONSTRAINTS),
    links=True,
)


def _scc_admits(subject: Obj, inventory: Inventory, parameters: Admitting) -> Iterator[Violation]:
    if subject.partial:  # the rest of the pod is not there
        return
    for pod in subject.pods:
        yield from _admitted(pod, inventory, parameters)


def _admitted(pod: Pod, inventory: Inventory, parameters: Admitting) -> Iterator[Violation]:
    owner = pod.object
    namespace, account = owner.text("metadata", "namespace"), account_of(pod)
    if owner.unknown:
        for value in hidden(pod):
            owner.depends_on(value.path)
        if owner.hidden("metadata", "namespace") or pod.hidden("serviceAccountName"):
            return
    if exempt(inventory, namespace):
        return
    predicted = inventory.once(admission(parameters.release))
    outcome, allocation = predicted.of(pod, namespace, account)
    if not outcome.message:
        return
    if outcome.elsewhere:
        if not outcome.elsewhere.message:
            undecided = pod.unverified if allocation is not None and allocation.hidden else pod.unlinked
            unspecified = f"{namespace} does not say which" if namespace else "no namespace says which"
            yield undecided(f"asks for ids or an SELinux level, and {unspecified} it has", *outcome.place)
            return
        outcome = outcome.elsewhere  # without complaints about ids that stand in for the real ones
    place, lacking = outcome.place, missing_objects(pod, account, inventory, predicted, allocation)
    refused = f"its pods are refused under the account {account}: {outcome.message}"
    if lacking:
        yield pod.unlinked(f"{lacking}, and without it {refused}", *place)
    elif predicted.accounts.uncertain:
        yield pod.unverified(f"with what is known {refused}", *place)
    else:
        yield pod.violation(refused, *place)


SCC_ADMITS = Rule(
    name="scc-admits",
    what="An SCC admits the pods of every template in its namespace and under its account, as OpenShift would decide.",
    why="The API server accepts a Job, an MPIJob or a Deployment whose pods it will refuse. No pod appears; the reason "
    "is only in an event of the controller (unable to validate against any security context constraint), which is gone "
    "an hour later.",
    remedy="Ask for less, or set serviceAccountName to an account that is bound to the right SCC; `./hpc scc explain` "
    "shows all SCCs",
    source="E-13, E-17, E-26, R-3.4.3-6, platform-facts 1.10",
    severity=Severity.MANDATORY,
    parameters=Admitting,
    examine=_scc_admits,
    links=True,
)
