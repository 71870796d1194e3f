"""Service accounts and namespaces among the objects: the SCCs that they may use, the ids and levels that they have."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from core.apis.kinds import MPI_JOB_V1, NAMESPACE, SECURITY_CONTEXT_CONSTRAINTS, SERVICE_ACCOUNT
from core.apis.names import (
    IPC_LOCK,
    RUN_LEVEL,
    RUN_LEVELS_WITHOUT_SCC,
    SCC_DISABLED,
    SCC_EXEMPT_NAMESPACES,
    SCC_MCS,
    SCC_SUPPLEMENTAL_GROUPS,
    SCC_UID_RANGE,
)
from policies.manifests.inventory import Inventory
from policies.manifests.pods import Pod
from policies.manifests.values import Unknown
from policies.scc import USABLE_BY_ALL, Release, User
from policies.scc.providers import Block, block
from policies.scc.rbac import RBAC_KINDS, Rbac
from policies.scc.shipped import shipped_roles
from policies.scc.subjects import AUTHENTICATED, running_as
from policies.views.constraints import ALL_CAPABILITIES, ALLOWED, DEFAULT_ADD, capability, shipped

ANNOTATIONS = (SCC_UID_RANGE, SCC_SUPPLEMENTAL_GROUPS, SCC_MCS)
STAND_IN: Mapping[str, str] = {SCC_UID_RANGE: "1000000000/10000", SCC_MCS: "s0:c1,c0"}
"""What a namespace has that OpenShift has not annotated yet; any values do, since no manifest can know them.

Groups need none: where their annotation is absent, the user ids are the groups.
"""
# What a pod may ask for -> the annotation that says whether the namespace has it.
_ALLOCATED = {"runAsUser": SCC_UID_RANGE, "level": SCC_MCS}


@dataclass(frozen=True)
class Allocation:
    """What is known of a namespace: its `annotations` of `ANNOTATIONS`; `hidden` are those unknown until the update."""

    annotations: Mapping[str, str]
    hidden: frozenset[str]

    @property
    def users(self) -> str:
        """Its user ids as written, `1075480000/10000`; empty when OpenShift will choose them."""
        return self.annotations.get(SCC_UID_RANGE, "")

    @property
    def open(self) -> frozenset[str]:
        """The fields of a security context for which the namespace's value is unknown."""
        groups = SCC_SUPPLEMENTAL_GROUPS
        decided = groups if groups in self.annotations or groups in self.hidden else SCC_UID_RANGE
        allocating = {**_ALLOCATED, **dict.fromkeys(("fsGroup", "supplementalGroups"), decided)}
        return frozenset(field for field, annotation in allocating.items() if annotation not in self.annotations)


UNKNOWN = Allocation({}, frozenset())
"""Of a namespace that is not among the objects."""


class Namespaces:
    """The namespaces among the objects; make it with `inventory.once(Namespaces)`."""

    def __init__(self, inventory: Inventory) -> None:
        self._found = {
            namespace.name: allocation(namespace.mapping("metadata", "annotations"))
            for namespace in inventory.of(NAMESPACE)
        }

    def get(self, name: str) -> Allocation | None:
        """Return one, or None when it is not among them."""
        return self._found.get(name)


def allocation(annotations: Mapping[str, object]) -> Allocation:
    """Return what the annotations of a namespace say of what it has."""
    values = {key: annotations.get(key) for key in ANNOTATIONS}
    return Allocation(
        annotations={key: value for key, value in values.items() if value and isinstance(value, str)},
        hidden=frozenset(key for key, value in values.items() if isinstance(value, Unknown)),
    )


@lru_cache(maxsize=1024)
def ids(written: str) -> Block | None:
    """Return a block of ids, None when it cannot be read."""
    try:
        return block(written)
    except ValueError:
        return None


DEFAULT = "default"
ANYBODY = User(name="(anybody)", groups=(AUTHENTICATED,))
"""Whoever makes a pod, a controller or a user, with the rights of every authenticated user alone."""
_BUILT_IN_ACCOUNTS = frozenset({DEFAULT, "builder", "deployer"})
_BUILT_IN_NAMESPACES = frozenset({"default", "openshift"})
_USERS, _GROUPS = "users", "groups"
_NOTES = (("metadata", "annotations"), ("metadata", "labels"))
_OWN_LAUNCHER_ACCOUNT = frozenset({"v1alpha2", "v1"})


def built_in_namespace(name: str) -> bool:
    """Return whether a namespace exists on every cluster, or belongs to OpenShift."""
    return name in _BUILT_IN_NAMESPACES or name.startswith(("kube-", "openshift-"))


def exempt(inventory: Inventory, namespace: str) -> bool:
    """Return whether OpenShift admits the pods of a namespace without asking any SCC."""
    namespace_object = inventory.get(NAMESPACE, namespace)
    return without_scc(namespace, namespace_object.mapping("metadata", "labels") if namespace_object else {})


def without_scc(namespace: str, labels: Mapping[str, object]) -> bool:
    """Return whether OpenShift admits the pods of a namespace with these labels without asking any SCC."""
    level, disabled = labels.get(RUN_LEVEL), labels.get(SCC_DISABLED)
    return namespace in SCC_EXEMPT_NAMESPACES or level in RUN_LEVELS_WITHOUT_SCC or disabled == "true"


def account_of(pod: Pod) -> str:
    """Return the account under which a pod will run; the operators of 2020 give each launcher one of its own."""
    owner = pod.object
    if pod.role == "Launcher" and owner.kind == MPI_JOB_V1.kind and owner.version in _OWN_LAUNCHER_ACCOUNT:
        return f"{owner.name}-launcher"
    return pod.service_account


def exists(inventory: Inventory, namespace: str, account: str) -> bool:
    """Return whether an account is among the objects, or on every cluster."""
    return account in _BUILT_IN_ACCOUNTS or inventory.get(SERVICE_ACCOUNT, account, namespace) is not None


class Accounts:
    """Who may use which SCC: `sccs` by name, those that a release ships and those among the objects.

    `locking` are those that let a pod have IPC_LOCK.
    `uncertain` says that an SCC, a role or a binding has a value that is unknown until the update.
    """

    def __init__(self, inventory: Inventory, release: Release) -> None:
        declared = inventory.of(SECURITY_CONTEXT_CONSTRAINTS)
        rbac_objects = [obj for kind in RBAC_KINDS for obj in inventory.of(kind)]
        self.sccs: dict[str, Mapping[str, Any]] = {**shipped(release), **{scc.name: scc.tree for scc in declared}}
        self.uncertain = any(
            value.path[:2] not in _NOTES for subject in (*declared, *rbac_objects) for value in subject.unknown
        )
        self.locking = frozenset(name for name, tree in self.sccs.items() if _allows(tree, IPC_LOCK))
        self._rbac = Rbac((obj.tree for obj in rbac_objects), shipped_roles(release))
        self._naming: dict[tuple[str, str], set[str]] = defaultdict(set)
        for name, tree in self.sccs.items():
            for field in (_USERS, _GROUPS):
                for entry in _entries(tree, field):
                    self._naming[field, entry].add(name)
        self._everybody = USABLE_BY_ALL[release]
        self._usable: dict[tuple[str, str], frozenset[str]] = {}
        self._undecided: dict[tuple[str, str], str] = {}

    def usable(self, namespace: str, account: str) -> frozenset[str]:
        """Return the SCCs that a pod of this account may use, whoever makes it: its own, and every user's."""
        key = namespace, account
        if key not in self._usable:
            users = running_as(namespace, account), ANYBODY
            keys = [(_USERS, users[0].name), *((_GROUPS, group) for user in users for group in user.groups)]
            by_rbac = (self._rbac.usable(user, namespace, self.sccs) for user in users)
            self._usable[key] = self._everybody.union(*(self._naming.get(holder, ()) for holder in keys), *by_rbac)
        return self._usable[key]

    def undecided(self, namespace: str, account: str) -> str:
        """Return what this account is bound to and what is not among the objects: a role, or the SCC of a role."""
        key = namespace, account
        if key not in self._undecided:
            self._undecided[key] = undecided(self._rbac, running_as(namespace, account), namespace, self.sccs)
        return self._undecided[key]


def undecided(rbac: Rbac, user: User, namespace: str, sccs: Collection[str]) -> str:
    """Return a role or an SCC that could let a user or everyone do more, were it known; empty when there is none."""
    for requester in (user, ANYBODY):
        for kind, name in rbac.unknown_roles(requester, namespace):
            return f"{kind} {name}"
        for name in sorted(rbac.named(requester, namespace).difference(sccs)):
            return f"{SECURITY_CONTEXT_CONSTRAINTS.kind} {name}"
    return ""


@cache
def accounts(release: Release) -> Callable[[Inventory], Accounts]:
    """Return what `Inventory.once` takes to make the accounts with the SCCs of a release."""
    return lambda inventory: Accounts(inventory, release)


def _allows(tree: Mapping[str, Any], name: str) -> bool:
    return any(
        capability(entry) in (name, ALL_CAPABILITIES)
        for field in (ALLOWED, DEFAULT_ADD)
        for entry in _entries(tree, field)
    )


def _entries(tree: Mapping[str, Any], field: str) -> list[str]:
    value = tree.get(field)
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []
