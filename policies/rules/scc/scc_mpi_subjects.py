"""Exactly the tenants' MPI accounts may use the SCC for MPI."""

from collections.abc import Iterator, Mapping

from pydantic import Field

from core.apis.kinds import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    ROLE,
    ROLE_BINDING,
    SECURITY_CONTEXT_CONSTRAINTS,
    SERVICE_ACCOUNT,
)
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.scc.rbac import EVERYWHERE, Grant, Rbac
from policies.scc.roles import own_role

_RBAC = (ROLE, CLUSTER_ROLE, ROLE_BINDING, CLUSTER_ROLE_BINDING)


class SccMpiSubjects(Parameters):
    """Which SCC, and whose."""

    scc: str = Field(default="scc-for-mpi", description="name of the SCC that allows IPC_LOCK")
    account: str = Field(default="mpi", description="service account of each tenant that may use it")
    without: tuple[str, ...] = Field(
        default=(), description="namespaces of tenants without RDMA, whose account needs no right to it"
    )


class _Grants:
    """Every binding that grants the use of an SCC, by the binding's tree."""

    def __init__(self, inventory: Inventory) -> None:
        objects = [obj for kind in _RBAC for obj in inventory.of(kind)]
        self._rbac = Rbac((obj.tree for obj in objects), own_role)
        self.uncertain = any(obj.unknown for obj in objects)
        self.by_binding: Mapping[int, Grant] = {id(grant.binding): grant for grant in self._rbac.grants}
        self._holders: dict[str, frozenset[tuple[str, str]]] = {}

    def contains(self, scc: str, namespace: str, account: str) -> bool:
        """Return whether a binding names an account itself, for an SCC and the pods of its namespace."""
        if scc not in self._holders:
            holders = self._rbac.users(scc)
            self._holders[scc] = frozenset((grant.namespace, subject.key[1]) for grant, subject in holders)
        user = f"system:serviceaccount:{namespace}:{account}"
        return not self._holders[scc].isdisjoint({(EVERYWHERE, user), (namespace, user)})


def _examine(subject: Obj, inventory: Inventory, parameters: SccMpiSubjects) -> Iterator[Violation]:
    grants = inventory.once(_Grants)
    if subject.kind == SERVICE_ACCOUNT.kind:
        if subject.name == parameters.account:
            yield from _tenant(subject, grants, inventory, parameters)
        return
    grant = grants.by_binding.get(id(subject.tree))
    if grant is None or not grant.covers(parameters.scc):
        return
    home = grant.namespace
    for grantee in grant.subjects:
        right = f"lets {grantee} use {parameters.scc}"
        if not home:
            yield subject.violation(f"{right} in every namespace", "subjects", grantee.index)
        elif (grantee.kind, grantee.name, grantee.namespace) != (SERVICE_ACCOUNT.kind, parameters.account, home):
            account = f"{SERVICE_ACCOUNT.kind} {home}/{parameters.account}"
            yield subject.violation(f"{right} for pods of {home}; only {account} may", "subjects", grantee.index)


def _has(scc: str, grants: _Grants, inventory: Inventory) -> bool:
    return any(grant.covers(scc) for grant in grants.by_binding.values()) or any(
        scc_object.name == scc for scc_object in inventory.of(SECURITY_CONTEXT_CONSTRAINTS)
    )


def _tenant(account: Obj, grants: _Grants, inventory: Inventory, parameters: SccMpiSubjects) -> Iterator[Violation]:
    namespace = account.text("metadata", "namespace")
    if inventory.complete and not _has(parameters.scc, grants, inventory):
        # A platform without RDMA has no such SCC, and its accounts need none.
        return
    if (
        namespace
        and namespace not in parameters.without
        and not grants.contains(parameters.scc, namespace, parameters.account)
    ):
        missing = account.unverified if grants.uncertain else account.unlinked
        yield missing(f"may not use {parameters.scc}, since no binding of {namespace} allows it", "metadata", "name")


SCC_MPI_SUBJECTS = Rule(
    name="scc-mpi-subjects",
    what="The service account mpi of each tenant, and no one else, may use scc-for-mpi, through a RoleBinding in the "
    "tenant's own namespace. A platform without that SCC is not checked.",
    why="A binding to a group, a user or another namespace gives IPC_LOCK to unintended pods. The jobs of a forgotten "
    "tenant are refused (unable to validate against any security context constraint: capability may not be added, "
    'provider "scc-for-mpi": Forbidden: not usable by user or serviceaccount).',
    remedy="Bind a Role with the verb use on the SCC to ServiceAccount mpi in each tenant's namespace, and to no other",
    source="R-3.4.3-5, R-3.4.3-7, E-13, P-5, platform-facts 4.3",
    severity=Severity.MANDATORY,
    parameters=SccMpiSubjects,
    examine=_examine,
    kinds=(ROLE_BINDING, CLUSTER_ROLE_BINDING, SERVICE_ACCOUNT),
    links=True,
)
