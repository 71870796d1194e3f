"""SecurityContextConstraints themselves: what they let pods have, to whom they are given, and which are tried first."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from core.apis.kinds import SECURITY_CONTEXT_CONSTRAINTS
from core.apis.names import IPC_LOCK, NET_BIND_SERVICE
from policies.manifests.objects import Obj
from policies.manifests.values import brief
from policies.scc import InvalidPod, order
from policies.scc.volumes import HOST_PATH, SOURCES
from policies.views.constraints import (
    ALL_CAPABILITIES,
    ALLOWED,
    DEFAULT_ADD,
    capabilities,
    differing_fields,
    meanings,
    shipped,
)
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Change, Resource
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import enumerated, name, names, title

_PRIVILEGES = {
    "allowPrivilegedContainer": "privileged containers",
    "allowHostDirVolumePlugin": "directories of the node",
    "allowHostIPC": "the node's IPC",
    "allowHostNetwork": "the node's network",
    "allowHostPID": "the node's processes",
    "allowHostPorts": "ports of the node",
}
ORDINARY = frozenset({IPC_LOCK})
"""What RDMA needs, and so every job of the platform; all else deserves a second look."""
_POWERS = frozenset(
    {
        *("allowPrivilegedContainer", "allowHostDirVolumePlugin", "allowHostIPC", "allowHostNetwork", "allowHostPID"),
        *("allowHostPorts", "allowedCapabilities", "defaultAddCapabilities"),
    }
)
"""Fields that the privileges include already."""
_LISTS = {
    "users": ("is given to users", "is taken from users"),
    "groups": ("is given to groups", "is taken from groups"),
    "volumes": ("allows volumes of type", "no longer allows volumes of type"),
    "seccompProfiles": ("allows seccomp profiles", "no longer allows seccomp profiles"),
    "requiredDropCapabilities": ("takes away capabilities", "no longer takes away capabilities"),
    "allowedUnsafeSysctls": ("allows unsafe sysctls", "no longer allows unsafe sysctls"),
    "forbiddenSysctls": ("forbids sysctls", "no longer forbids sysctls"),
}
_FLAGS = {
    "allowPrivilegeEscalation": ("allows privilege escalation", "no longer allows privilege escalation"),
    "readOnlyRootFilesystem": (
        "requires read-only root file systems",
        "no longer requires read-only root file systems",
    ),
}
_ALL_BUT_HOST = frozenset(SOURCES.values()) - {HOST_PATH}
_WIDER_WHEN_LOST = frozenset({"requiredDropCapabilities", "forbiddenSysctls"})


def powers(scc: Mapping[str, Any]) -> frozenset[str]:
    """Return what an SCC gives: `IPC_LOCK`, `the node's network`, ..."""
    view = Obj(scc)
    privileges = {words for field, words in _PRIVILEGES.items() if view.read(field) is True}
    for field in (ALLOWED, DEFAULT_ADD):
        for capability in capabilities(view, field):
            if capability != NET_BIND_SERVICE:
                privileges.add("every capability" if capability == ALL_CAPABILITIES else capability)
    if view.text("runAsUser", "type") == "RunAsAny":
        privileges.add("any user id, root too")
    if view.text("seLinuxContext", "type") == "RunAsAny":
        privileges.add("any SELinux label")
    return frozenset(privileges)


@lru_cache(maxsize=256)
def ranked(privileges: frozenset[str]) -> tuple[str, ...]:
    """Return powers in a fixed order, the worst first."""
    first = tuple(_PRIVILEGES.values())
    order = sorted(
        privileges,
        key=lambda privilege: (privilege in ORDINARY, privilege not in first, privilege != first[0], privilege),
    )
    return tuple(f"{privilege} (all of the node)" if privilege == first[0] else privilege for privilege in order)


def find(indexed: IndexedReview) -> Section | None:
    """Report what becomes of each SCC."""
    changes = indexed.changed(SECURITY_CONTEXT_CONSTRAINTS)
    if not changes:
        return None
    own = [side.of(SECURITY_CONTEXT_CONSTRAINTS) for side in (indexed.before, indexed.after)]
    orders = _order(indexed, own[0]), _order(indexed, own[1])
    lines = [line for change in changes if (line := _line(change, indexed, orders)) is not None]
    return section("SecurityContextConstraints", lines, vital=True)


def _line(change: Change, indexed: IndexedReview, orders: tuple[Sequence[str], Sequence[str]]) -> Line | None:
    before, after = (indexed.view(resource).tree if resource else None for resource in (change.before, change.after))
    scc = change.resource
    if before is None or after is None:
        privileges = ranked(powers(after or before or {}))
        lets = (
            f"gives pods {enumerated(privileges, 12)}" if privileges else "gives pods nothing that restricted does not"
        )
        alarm = before is None and not ORDINARY.issuperset(privileges)
        details = () if after is None else (*_grantees(after), *_every_volume(after))
        return Line(f"{title(scc)} is {'new' if before is None else 'deleted'}: it {lets}", details, alarm=alarm)
    old, new = powers(before), powers(after)
    effects = [f"it gives pods {enumerated(ranked(new - old), 12)}"] if new - old else []
    effects += [f"it no longer gives pods {enumerated(ranked(old - new), 12)}"] if old - new else []
    alarm = not new - old <= ORDINARY
    for field in differing_fields(before, after):
        if field in _POWERS:
            continue
        words, wider = _field(field, before, after, orders, scc.object_name)
        effects += words
        alarm |= wider
    return Line(title(scc), tuple(effects), alarm=alarm) if effects else None


def _grantees(scc: Mapping[str, Any]) -> Iterator[str]:
    for field in ("users", "groups"):
        entries = scc.get(field)
        if isinstance(entries, list) and entries:
            yield f"it {_LISTS[field][0]} {names(sorted(set(map(_entry, entries))))}"
    if priority := scc.get("priority"):
        yield f"its priority is {name(brief(priority))}"


def _every_volume(scc: Mapping[str, Any]) -> Iterator[str]:
    types = meanings(scc).get("volumes")
    if isinstance(types, frozenset) and "*" in types:
        yield "it allows volumes of every type"
    elif isinstance(types, frozenset) and types >= _ALL_BUT_HOST:
        yield "it allows volumes of every type but hostPath"


def _field(
    field: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    orders: tuple[Sequence[str], Sequence[str]],
    scc: str,
) -> tuple[list[str], bool]:
    """Return what a field's change means, and whether the SCC gives more by it."""
    old, new = (meanings(side).get(field) for side in (before, after))
    if field in _LISTS and isinstance(old, frozenset) and isinstance(new, frozenset):
        more, less = (sorted(set(map(_entry, values))) for values in (new - old, old - new))
        effects = [f"it {_LISTS[field][0]} {names(more)}"] if more else []
        effects += [f"it {_LISTS[field][1]} {names(less)}"] if less else []
        return effects, bool(less if field in _WIDER_WHEN_LOST else more)
    if field in _FLAGS:
        return [f"it {_FLAGS[field][0 if new else 1]}"], bool(new) is (field == "allowPrivilegeEscalation")
    if field == "priority":
        places = [order.index(scc) + 1 if scc in order else 0 for order in orders]
        tried = f": it is tried at place {places[1]} of {len(orders[1])} (was {places[0]})" if all(places) else ""
        return [f"its priority is {_value(after.get(field))} (was {_value(before.get(field))}){tried}"], False
    value = after.get(field)
    runs_as_any = isinstance(value, Mapping) and value.get("type") == "RunAsAny"
    return [f"{name(field)} is {_value(value)} (was {_value(before.get(field))})"], runs_as_any


def _entry(value: object) -> str:
    """Return an entry of a list; what is not text is another rule's matter, and has no order of its own."""
    return value if isinstance(value, str) else "(no name)"


def _value(value: Any) -> str:
    if isinstance(value, Mapping) and isinstance(value.get("type"), str) and len(value) == 1:
        return name(value["type"])
    return "not set" if value is None else name(brief(value))


def _order(indexed: IndexedReview, own: list[Resource]) -> Sequence[str]:
    sccs = {**shipped(indexed.release), **{scc.object_name: indexed.view(scc).tree for scc in own}}
    try:
        return order(list(sccs.values()))
    except InvalidPod:
        return ()
