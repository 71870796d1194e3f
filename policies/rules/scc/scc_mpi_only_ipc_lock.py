"""The SCC for MPI gives what `restricted` gives, and IPC_LOCK to containers that ask for it."""

from collections.abc import Iterator

from pydantic import Field

from core.apis.kinds import SECURITY_CONTEXT_CONSTRAINTS
from core.apis.names import IPC_LOCK
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Tree, brief
from policies.rule import Parameters, Rule
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


def _examine(subject: Obj, _: Inventory, parameters: SccMpiOnlyIpcLock) -> Iterator[Violation]:
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
    examine=_examine,
    kinds=(SECURITY_CONTEXT_CONSTRAINTS,),
)
