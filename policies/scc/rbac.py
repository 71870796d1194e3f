"""Who may use which SecurityContextConstraints by RBAC, as the authorizer of Kubernetes decides it.

Reads plain trees and keeps what grants the verb `use`; what is malformed grants nothing, as the API server would not
take it, and nothing here raises. Source: kubernetes.io/docs/reference/access-authn-authz/rbac.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from core.apis.kinds import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    ROLE,
    ROLE_BINDING,
    SECURITY_CONTEXT_CONSTRAINTS,
    SERVICE_ACCOUNT,
    Kind,
)
from policies.manifests.values import Tree, is_empty, read, selects

T = TypeVar("T")

RBAC_KINDS = (ROLE, CLUSTER_ROLE, ROLE_BINDING, CLUSTER_ROLE_BINDING)
USE = "use"
EVERY = "*"
USER, GROUP = "User", "Group"
MASTERS = "system:masters"
"""The group that the API server lets do everything before it asks RBAC."""
EVERYWHERE = ""

Object = Mapping[str, Any]
Key = tuple[str, str]
"""A subject as the authorizer compares it: USER or GROUP, and the name; a service account is a user."""


class Requester(Protocol):
    """A user with its groups, as the API server has authenticated it."""

    @property
    def name(self) -> str:
        """The user's name, e.g. `system:serviceaccount:adas:mpi`."""

    @property
    def groups(self) -> tuple[str, ...]:
        """Its groups."""


@dataclass(frozen=True)
class Subject:
    """One subject of a binding: `index` is its place there, `namespace` is that of a service account, else empty."""

    kind: str
    name: str
    namespace: str
    index: int

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    @property
    def key(self) -> Key:
        """What the authorizer compares."""
        if self.kind == SERVICE_ACCOUNT.kind:
            return USER, f"system:serviceaccount:{self.namespace}:{self.name}"
        return self.kind, self.name


@dataclass(frozen=True, eq=False)
class Grant:
    """A binding that lets its subjects use SCCs in `namespace`, or everywhere when that is empty.

    `binding` and `role` are the very trees that were given; `names` is None when it grants every SCC.
    """

    binding: Object
    role: Object
    namespace: str
    subjects: tuple[Subject, ...]
    names: frozenset[str] | None

    def covers(self, scc: str) -> bool:
        """Return whether it grants the SCC of this name."""
        return self.names is None or scc in self.names


class Rbac:
    """The roles and bindings among `objects`, indexed once; other objects are passed over.

    `shipped` returns the ClusterRole of a name that the cluster brings itself, None when it brings none; of a live
    cluster every role is among the objects. `unresolved` are the bindings whose role is not known by either: whom
    they let use what is not known.
    """

    def __init__(self, objects: Iterable[Object], shipped: Callable[[str], Object | None] = lambda _: None) -> None:
        bindings: list[tuple[Object, str]] = []
        roles = _Roles(shipped)
        for tree in objects:
            kind = _rbac_kind(tree)
            namespace = _text(read(tree, "metadata", "namespace"))
            if kind is ROLE or kind is CLUSTER_ROLE:
                roles.add(tree, namespace if kind is ROLE else EVERYWHERE)
            elif kind is CLUSTER_ROLE_BINDING or (kind is ROLE_BINDING and namespace):
                bindings.append((tree, namespace if kind is ROLE_BINDING else EVERYWHERE))
        grants: list[Grant] = []
        unresolved: list[Object] = []
        self._unresolved: dict[tuple[str, Key], list[Object]] = defaultdict(list)
        for tree, namespace in bindings:
            role = roles.referred(tree, namespace)
            if role is None:
                unresolved.append(tree)
                for key in {subject.key for subject in subjects(tree, namespace)}:
                    self._unresolved[namespace, key].append(tree)
                continue
            names = roles.names(role)
            if names is None or names:
                grants.append(Grant(tree, role, namespace, tuple(subjects(tree, namespace)), names))
        self.grants = tuple(grants)
        self.unresolved = tuple(unresolved)
        self._by_subject: dict[tuple[str, Key], list[Grant]] = defaultdict(list)
        for grant in self.grants:
            for key in {subject.key for subject in grant.subjects}:
                self._by_subject[grant.namespace, key].append(grant)

    def usable(self, user: Requester, namespace: str, names: Collection[str]) -> frozenset[str]:
        """Return which of the SCCs called `names` the user may use for pods of `namespace`, by RBAC alone.

        The users and groups that an SCC names itself are not RBAC and do not count here.
        """
        if MASTERS in user.groups:
            return frozenset(names)
        granted_names: set[str] = set()
        for grant in _of_user(self._by_subject, user, namespace):
            if grant.names is None:
                return frozenset(names)
            granted_names |= grant.names
        return frozenset(granted_names.intersection(names))

    def named(self, user: Requester, namespace: str) -> frozenset[str]:
        """Return the SCCs that the user's roles name for pods of `namespace`, whether such SCCs exist or not."""
        return frozenset().union(*(grant.names or () for grant in _of_user(self._by_subject, user, namespace)))

    def unknown_roles(self, user: Requester, namespace: str) -> Iterator[tuple[str, str]]:
        """Yield kind and name of each role that the user is bound to for pods of `namespace` and that is not known."""
        for binding in _of_user(self._unresolved, user, namespace):
            yield _text(read(binding, "roleRef", "kind")), _text(read(binding, "roleRef", "name"))

    def users(self, scc: str) -> Iterator[tuple[Grant, Subject]]:
        """Yield every binding and subject that may use an SCC, in whatever namespace."""
        for grant in self.grants:
            if grant.covers(scc):
                for subject in grant.subjects:
                    yield grant, subject


def _of_user(by_subject: Mapping[tuple[str, Key], list[T]], user: Requester, namespace: str) -> Iterator[T]:
    for key in ((USER, user.name), *((GROUP, group) for group in user.groups)):
        for scope in {EVERYWHERE, namespace}:
            yield from by_subject.get((scope, key), ())


def subjects(binding: Object, namespace: str) -> Iterator[Subject]:
    """Yield the well-formed subjects of a binding; a service account without a namespace is of the binding's."""
    for index, entry in enumerate(_list(read(binding, "subjects"))):
        kind, name = _text(read(entry, "kind")), _text(read(entry, "name"))
        group = read(entry, "apiGroup") or ("" if kind == SERVICE_ACCOUNT.kind else ROLE.group)
        if not name:
            continue
        if kind in (USER, GROUP) and group == ROLE.group:
            yield Subject(kind, name, "", index)
        elif kind == SERVICE_ACCOUNT.kind and group == "":
            home = _text(read(entry, "namespace")) or namespace
            if home:
                yield Subject(kind, name, home, index)


def granted(role: Object) -> frozenset[str] | None:
    """Return the SCCs that a role's own rules let one use, None for all of them."""
    names: set[str] = set()
    for rule in _list(read(role, "rules")):
        if not (
            _has(rule, "verbs", USE)
            and _has(rule, "apiGroups", SECURITY_CONTEXT_CONSTRAINTS.group)
            and _has(rule, "resources", SECURITY_CONTEXT_CONSTRAINTS.plural)
        ):
            continue
        listed = read(rule, "resourceNames")
        if not listed:
            return None
        names.update(name for name in _list(listed) if isinstance(name, str))
    return frozenset(names)


class _Roles:
    """Roles by where they are, and what each grants, aggregated rules included."""

    def __init__(self, shipped: Callable[[str], Object | None]) -> None:
        self._shipped = shipped
        self._roles: dict[tuple[str, str], Object] = {}
        self._labelled: dict[tuple[str, str], list[Object]] = defaultdict(list)
        self._names: dict[int, frozenset[str] | None] = {}

    def add(self, role: Object, namespace: str) -> None:
        name = _text(read(role, "metadata", "name"))
        if not name:
            return
        self._roles.setdefault((namespace, name), role)
        labels = read(role, "metadata", "labels")
        if namespace == EVERYWHERE and isinstance(labels, Mapping):
            for pair in labels.items():
                if all(isinstance(part, str) for part in pair):
                    self._labelled[pair].append(role)

    def referred(self, binding: Object, namespace: str) -> Object | None:
        reference = read(binding, "roleRef")
        kind, name = _text(read(reference, "kind")), _text(read(reference, "name"))
        if (read(reference, "apiGroup") or ROLE.group) != ROLE.group:
            return None
        if kind == CLUSTER_ROLE.kind:
            key = EVERYWHERE, name
            if key not in self._roles and (shipped := self._shipped(name)) is not None:
                self._roles[key] = shipped
            return self._roles.get(key)
        return self._roles.get((namespace, name)) if kind == ROLE.kind and namespace else None

    def names(self, role: Object) -> frozenset[str] | None:
        if id(role) not in self._names:
            self._names[id(role)] = self._collect(role)
        return self._names[id(role)]

    def _collect(self, role: Object) -> frozenset[str] | None:
        """Follow aggregation: on a cluster its controller has written the rules already."""
        names: set[str] = set()
        waiting, seen = [role], {id(role)}
        while waiting:
            current = waiting.pop()
            sccs = granted(current)
            if sccs is None or any(map(is_empty, _list(read(current, "aggregationRule", "clusterRoleSelectors")))):
                return None  # an empty selector is for every ClusterRole, those for every SCC among them
            names |= sccs
            for selected in self._selected(current):
                if id(selected) not in seen:
                    seen.add(id(selected))
                    waiting.append(selected)
        return frozenset(names)

    def _selected(self, role: Object) -> Iterator[Object]:
        for selector in _list(read(role, "aggregationRule", "clusterRoleSelectors")):
            for other in self._candidates(selector):
                labels = other["metadata"].get("labels")
                if selects(selector, labels if isinstance(labels, Mapping) else {}):
                    yield other

    def _candidates(self, selector: Tree) -> Iterable[Object]:
        """Return the ClusterRoles with one of a selector's labels; all where it has none."""
        labels = read(selector, "matchLabels")
        pair = next(iter(labels.items()), None) if isinstance(labels, Mapping) else None
        if pair is None:
            return [role for (namespace, _), role in self._roles.items() if namespace == EVERYWHERE]
        return self._labelled.get(pair, ()) if all(isinstance(part, str) for part in pair) else ()


_KINDS: Mapping[str, Kind] = {kind.kind: kind for kind in RBAC_KINDS}


def _rbac_kind(tree: Tree) -> Kind | None:
    if _text(read(tree, "apiVersion")).partition("/")[0] != ROLE.group:
        return None
    return _KINDS.get(_text(read(tree, "kind")))


def _has(rule: Tree, field: str, value: str) -> bool:
    values = _list(read(rule, field))
    return value in values or EVERY in values


def _list(value: Tree) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Tree) -> str:
    return value if isinstance(value, str) else ""
