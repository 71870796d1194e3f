"""The SCC for MPI: what it gives, and to whom."""

from collections.abc import Iterator, Mapping

from pydantic import Field

from core.apis.kinds import CLUSTER_ROLE_BINDING, ROLE_BINDING, SECURITY_CONTEXT_CONSTRAINTS, SERVICE_ACCOUNT
from core.apis.names import IPC_LOCK
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Tree, brief
from policies.rule import Parameters, Rule, Severity
from policies.scc.rbac import EVERYWHERE, RBAC_KINDS, Grant, Rbac
from policies.scc.shipped import own_role
from policies.views.constraints import (
    ALLOWED,
    DEFAULT_ADD,
    capabilities,
    capability,
    differing_fields,
    is_tighter,
    shipped,
)

_USERS = ("users", "groups")


class SccMpiOnlyIpcLock(Parameters):
    """Which SCC is the one for MPI."""

    name: str = Field(default="scc-for-mpi", description="name of the SCC that allows IPC_LOCK")


def _scc_mpi_only_ipc_lock(subject: Obj, _: Inventory, parameters: SccMpiOnlyIpcLock) -> Iterator[Violation]:
    if subject.name != parameters.name:
        return
    for field in _USERS:
        if subject.entries(field):
            yield subject.violation(f"names {field}, who may use it past every RoleBinding", field)
    added, allowed = capabilities(subject, DEFAULT_ADD), capabilities(subject, ALLOWED)
    if IPC_LOCK in added:
        yield subject.violation(f"adds {IPC_LOCK} to every pod that it admits, requested or not", DEFAULT_ADD)
    elif IPC_LOCK not in allowed and not (subject.partial and ALLOWED not in subject.tree):
        yield subject.violation(f"does not allow {IPC_LOCK}", ALLOWED)
    name, fields = min(_wider(subject), key=lambda comparison: len(comparison[1]))
    for field in fields:
        value = subject.read(field)
        text = "absent" if value is None else brief(value)
        yield subject.violation(f"differs from {name} in more than {IPC_LOCK}: {field} is {text}", field)


def _wider(subject: Obj) -> Iterator[tuple[str, list[str]]]:
    """Yield each SCC that is or was called restricted, with the fields that give more than it does."""
    scc = {**subject.tree, **{field: _without_ipc_lock(subject.tree.get(field)) for field in (ALLOWED, DEFAULT_ADD)}}
    for name, base in (
        ("restricted of 4.4", shipped("4.4")["restricted"]),
        ("restricted", shipped("current")["restricted"]),
        ("restricted-v2", shipped("current")["restricted-v2"]),
    ):
        fields = (field for field in differing_fields(scc, base) if field in subject.tree or not subject.partial)
        yield name, [field for field in fields if field not in _USERS and not is_tighter(field, scc, base)]


def _without_ipc_lock(names: Tree) -> Tree:
    if not isinstance(names, list):
        return names
    return [name for name in names if not isinstance(name, str) or capability(name) != IPC_LOCK]


SCC_MPI_ONLY_IPC_LOCK = Rule(
    name="scc-mpi-only-ipc-lock",
    what="scc-for-mpi equals `restricted` (or `restricted-v2` of a current release) with IPC_LOCK allowed as well, and "
    "names no users or groups. It may be stricter.",
    why="Any other difference silently applies to all users of RDMA. defaultAddCapabilities adds IPC_LOCK to every pod "
    "that the SCC admits, requested or not. A user or group named in the SCC may use it without a RoleBinding.",
    remedy="Copy restricted, write allowedCapabilities: [IPC_LOCK] and leave users and groups empty",
    source="R-3.4.3-1, R-3.4.3-2, E-13, P-5, platform-facts 0",
    severity=Severity.MANDATORY,
    parameters=SccMpiOnlyIpcLock,
    examine=_scc_mpi_only_ipc_lock,
    kinds=(SECURITY_CONTEXT_CONSTRAINTS,),
)


class SccMpiSubjects(Parameters):
    """Which SCC, and whose."""

    scc: str = Field(default="scc-for-mpi", description="name of the SCC that allows IPC_LOCK")
    account: str = Field(default="mpi", description="service account of each tenant that may use it")
    without: tuple[str, ...] = Field(
        default=(), description="namespaces of tenants without RDMA, whose account needs no right to it"
    )


class _Grants:
    def __init__(self, inventory: Inventory) -> None:
        objects = [obj for kind in RBAC_KINDS for obj in inventory.of(kind)]
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


def _scc_mpi_subjects(subject: Obj, inventory: Inventory, parameters: SccMpiSubjects) -> Iterator[Violation]:
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
    examine=_scc_mpi_subjects,
    kinds=(ROLE_BINDING, CLUSTER_ROLE_BINDING, SERVICE_ACCOUNT),
    links=True,
)
