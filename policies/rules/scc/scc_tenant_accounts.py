"""Apart from the SCC for MPI, a tenant's accounts may use no SCC that gives more than `restricted`."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from pydantic import Field

from core.apis.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING, SECURITY_CONTEXT_CONSTRAINTS
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Rule
from policies.scc import Release
from policies.scc.rbac import GROUP, Grant, Rbac, Subject
from policies.scc.roles import shipped_roles
from policies.views.accounts import accounts
from policies.views.constraints import is_shipped, powers
from policies.views.tenants import TENANTS, Tenancy, is_tenants


class SccTenantAccounts(Tenancy):
    """Which SCCs tenants may use, and whose accounts are operators'."""

    sccs: tuple[str, ...] = Field(default=("scc-for-mpi",), description="SCCs that tenants may use")
    release: Release = Field(default="current", description="OpenShift release whose own SCCs exist")


@cache
def _grants(release: Release) -> Callable[[Inventory], Mapping[int, Grant]]:
    """Return what makes the grants of bindings, by the binding's tree; for `Inventory.once`."""

    def make(inventory: Inventory) -> Mapping[int, Grant]:
        trees = (
            obj.tree for kind in (ROLE, CLUSTER_ROLE, ROLE_BINDING, CLUSTER_ROLE_BINDING) for obj in inventory.of(kind)
        )
        return {id(grant.binding): grant for grant in Rbac(trees, shipped_roles(release)).grants}

    return make


def _examine(subject: Obj, inventory: Inventory, parameters: SccTenantAccounts) -> Iterator[Violation]:
    if subject.kind == SECURITY_CONTEXT_CONSTRAINTS.kind:
        yield from _named(subject, parameters)
        return
    grant = inventory.once(_grants(parameters.release)).get(id(subject.tree))
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
    examine=_examine,
    kinds=(ROLE_BINDING, CLUSTER_ROLE_BINDING, SECURITY_CONTEXT_CONSTRAINTS),
    links=True,
)
