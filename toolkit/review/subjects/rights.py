"""What accounts, users and groups may do by the roles that they are bound to; SCCs have a section of their own."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from core.apis.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING, SECURITY_CONTEXT_CONSTRAINTS
from policies.manifests.values import entries, read
from policies.scc.rbac import EVERY, USE, Subject, subjects
from toolkit.review.indexed_review import IndexedReview, Side
from toolkit.review.model import Op, Resource
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import enumerated, name, names, title

_ROLES = (ROLE, CLUSTER_ROLE)
_BINDINGS = (ROLE_BINDING, CLUSTER_ROLE_BINDING)
_MOST = 2_000
"""Rights of one role that are compared; a role with more than that means everything."""
_WIDE = frozenset({"secrets", "pods/exec", "pods/attach", "nodes/proxy", "serviceaccounts/token", EVERY})
_SENSITIVE = frozenset({"escalate", "bind", "impersonate", EVERY})
Right = tuple[str, str, str]
"""Verb, resource with its group, and the object's name, empty for all of them."""
Key = tuple[str, str]


@dataclass(frozen=True)
class _Binding:
    """A binding as far as rights go."""

    subjects: tuple[Subject, ...]
    role: Key
    scope: str


class Rights:
    """The roles and bindings of one side."""

    def __init__(self, side: Side, indexed: IndexedReview) -> None:
        self.roles = {_key(role): _rules(indexed.view(role).tree) for role in side.of(*_ROLES)}
        for change in indexed.changed(*_ROLES):
            # A role that comes or goes allows nothing without being there, whoever is bound to it.
            role, stands = change.resource, change.op in (Op.ADOPT, Op.FORGET)
            self.roles.setdefault(_key(role), _rules(indexed.view(role).tree) if stands else frozenset())
        self.bindings = {binding.urn: _binding(binding, indexed) for binding in side.of(*_BINDINGS)}

    @cached_property
    def _of(self) -> Mapping[tuple[str, str], list[_Binding]]:
        bindings: dict[tuple[str, str], list[_Binding]] = defaultdict(list)
        for binding in self.bindings.values():
            for key in {subject.key for subject in binding.subjects}:
                bindings[key].append(binding)
        return bindings

    def of(self, subject: tuple[str, str]) -> set[tuple[str, Right]]:
        """Return what a subject may do, each with the namespace; that is empty for the whole cluster."""
        scoped = set()
        for binding in self._of.get(subject, ()):
            role_rights = self.roles.get(binding.role)
            rights = {(EVERY_RIGHT, _role(binding.role), "")} if role_rights is None else role_rights
            scoped |= {(binding.scope, right) for right in rights}
        return scoped


EVERY_RIGHT = "(every right)"


def find(indexed: IndexedReview) -> Section | None:
    """Report who may do more, or less."""
    changed_roles = {_key(change.resource) for change in indexed.changed(*_ROLES)}
    changed_bindings = {change.resource.urn for change in indexed.changed(*_BINDINGS)}
    if not changed_roles and not changed_bindings:
        return None
    old, new = Rights(indexed.before, indexed), Rights(indexed.after, indexed)
    affected = {
        (subject.key, str(subject))
        for side in (old, new)
        for urn, binding in side.bindings.items()
        if urn in changed_bindings or binding.role in changed_roles
        for subject in binding.subjects
    }
    lines: list[Line] = []
    for key, words in sorted(affected, key=lambda item: item[1]):
        lines += _subject(words, old.of(key), new.of(key))
    used = {binding.role for side in (old, new) for binding in side.bindings.values()}
    for change in indexed.changed(*_ROLES):
        role = _key(change.resource)
        if role not in used:
            before, after = ({("", right) for right in side.roles.get(role, ())} for side in (old, new))
            lines += _right_changes(f"{title(change.resource)}, to which no one is bound here,", before, after)
    return section("Rights by RBAC", lines, vital=True)


def _subject(words: str, before: set[tuple[str, Right]], after: set[tuple[str, Right]]) -> Iterator[Line]:
    kind, _, subject = words.partition(" ")
    yield from _right_changes(
        f"{'account' if kind == 'ServiceAccount' else kind.lower()} {name(subject)}", before, after
    )


def _right_changes(subject: str, before: set[tuple[str, Right]], after: set[tuple[str, Right]]) -> Iterator[Line]:
    for may, difference in (("may now", after - before), ("may no longer", before - after)):
        scopes: dict[str, set[Right]] = defaultdict(set)
        for scope, right in difference:
            scopes[scope].add(right)
        for scope, rights in sorted(scopes.items()):
            shown = tuple(_descriptions(rights))
            where = f"in namespace {name(scope)}" if scope else "in the whole cluster"
            sensitive = may == "may now" and any(map(_is_sensitive, rights))
            if len(shown) == 1:
                yield Line(f"{subject} {may}, {where}: {shown[0]}", alarm=sensitive)
            else:
                yield Line(f"{subject} {may}, {where}:", shown, alarm=sensitive)


def _descriptions(rights: set[Right]) -> Iterator[str]:
    verbs: dict[tuple[str, str], set[str]] = defaultdict(set)
    for verb, resource, only in rights:
        verbs[resource, only].add(verb)
    groups: dict[tuple[tuple[str, ...], str], list[str]] = defaultdict(list)
    for (resource, only), allowed in verbs.items():
        groups[tuple(sorted(allowed)), only].append(resource)
    for (allowed_verbs, only), resources in sorted(groups.items()):
        if allowed_verbs == (EVERY_RIGHT,):
            yield f"whatever {names(sorted(resources))} allows, which is not among the objects"
            continue
        action = (
            "do everything with" if EVERY in allowed_verbs else enumerated([name(verb) for verb in allowed_verbs], 12)
        )
        what = "everything" if EVERY in resources else names(sorted(resources), 12)
        yield f"{action} {what}{f' called {name(only)}' if only else ''}"


def _is_sensitive(right: Right) -> bool:
    verb, resource, _ = right
    return verb in _SENSITIVE or resource in _WIDE or (verb == EVERY_RIGHT and resource.endswith("cluster-admin"))


def _rules(tree: Mapping[str, Any]) -> frozenset[Right]:
    rights: set[Right] = set()
    for rule in entries(tree, "rules"):
        for right in _expanded(rule):
            rights.add(right)
            if len(rights) >= _MOST:
                return frozenset(rights)
    return frozenset(rights)


def _expanded(rule: Any) -> Iterator[Right]:
    verbs = _texts(rule, "verbs")
    for url in _texts(rule, "nonResourceURLs"):
        yield from ((verb, url, "") for verb in verbs)
    for group in _texts(rule, "apiGroups"):
        for resource in _texts(rule, "resources"):
            ours = resource == SECURITY_CONTEXT_CONSTRAINTS.plural and group == SECURITY_CONTEXT_CONSTRAINTS.group
            where = resource if group in ("", EVERY) else f"{resource}.{group}"
            for verb in verbs:
                if not (ours and verb == USE):
                    yield from ((verb, where, only) for only in _texts(rule, "resourceNames") or ("",))


def _binding(binding: Resource, indexed: IndexedReview) -> _Binding:
    tree = indexed.view(binding).tree
    namespace = binding.namespace if binding.kind == ROLE_BINDING.kind else ""
    kind, role = (_text(read(tree, "roleRef", key)) for key in ("kind", "name"))
    return _Binding(tuple(subjects(tree, namespace)), (namespace if kind == ROLE.kind else "", role), namespace)


def _role(key: Key) -> str:
    return f"{ROLE.kind} {key[0]}/{key[1]}" if key[0] else f"{CLUSTER_ROLE.kind} {key[1]}"


def _key(role: Resource) -> Key:
    return role.namespace if role.kind == ROLE.kind else "", role.object_name


def _texts(rule: Any, field: str) -> list[str]:
    return [entry for entry in entries(rule, field) if isinstance(entry, str)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
