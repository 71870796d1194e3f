"""What rules read in SecurityContextConstraints, whoever wrote them."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from policies.manifests.objects import Obj
from policies.manifests.values import Tree
from policies.scc import InvalidPod, Release, default_sccs
from policies.scc.defaults import defaulted_scc

ALLOWED, DEFAULT_ADD, REQUIRED_DROP = "allowedCapabilities", "defaultAddCapabilities", "requiredDropCapabilities"
HOST_FIELDS = ("allowHostDirVolumePlugin", "allowHostIPC", "allowHostNetwork", "allowHostPID", "allowHostPorts")
ALL_CAPABILITIES = "ALL"
WIDE_GROUPS = (
    *("system:authenticated", "system:authenticated:*", "system:unauthenticated", "system:serviceaccounts"),
    *("system:cluster-*", "system:masters", "system:nodes"),
)
"""Groups that are wider than one namespace; `*` matches any."""
# Everybody may bind a port below 1024 by restricted-v2 already.
_HARMLESS = frozenset({"NET_BIND_SERVICE"})
_IDENTITY = frozenset({"apiVersion", "kind", "metadata"})


def capability(text: str) -> str:
    """Return a capability in one spelling: CAP_IPC_LOCK and ipc_lock are IPC_LOCK, * is ALL."""
    name = text.upper().removeprefix("CAP_")
    return ALL_CAPABILITIES if name == "*" else name


def capabilities(scc: Obj, field: str) -> dict[str, int]:
    """Return the capabilities of a field in one spelling, and where each is."""
    places: dict[str, int] = {}
    for index, name in enumerate(scc.entries(field)):
        if isinstance(name, str):
            places.setdefault(capability(name), index)
    return places


def powers(scc: Obj) -> Iterator[str]:
    """Yield what an SCC gives that `restricted` does not, e.g. `allowedCapabilities IPC_LOCK`."""
    for field in ("allowPrivilegedContainer", *HOST_FIELDS):
        if scc.read(field) is True:
            yield field
    for field in (DEFAULT_ADD, ALLOWED):
        names = sorted(capabilities(scc, field).keys() - _HARMLESS)
        if names:
            yield f"{field} {', '.join(names)[:200]}"
    if scc.text("runAsUser", "type") == "RunAsAny":
        yield "runAsUser RunAsAny"


@cache
def shipped(release: Release) -> Mapping[str, Mapping[str, Any]]:
    """Return the SCCs that OpenShift ships, by name; not to be changed."""
    return {scc["metadata"]["name"]: scc for scc in default_sccs(release)}


def is_shipped(scc: Obj) -> bool:
    """Return whether an object is one of OpenShift's own SCCs, unchanged."""
    releases: tuple[Release, ...] = ("4.4", "current", "upgraded")
    return any(
        (base := shipped(release).get(scc.name)) is not None and not differing_fields(scc.tree, base)
        for release in releases
    )


def differing_fields(scc: Mapping[str, Any], base: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the fields in which two SCCs differ in meaning, sorted; the order of a list has none."""
    own_meanings, base_meanings = meanings(scc), meanings(base)
    return tuple(
        sorted(
            field
            for field in own_meanings.keys() | base_meanings.keys()
            if own_meanings.get(field) != base_meanings.get(field)
        )
    )


def is_tighter(field: str, scc: Mapping[str, Any], base: Mapping[str, Any]) -> bool:
    """Return whether a field of an SCC that differs from that of another SCC gives less than it."""
    own_meaning, base_meaning = meanings(scc).get(field), meanings(base).get(field)
    return type(own_meaning) is type(base_meaning) and field in _TIGHTER and _TIGHTER[field](own_meaning, base_meaning)


def meanings(scc: Mapping[str, Any]) -> dict[str, object]:
    """Return what the fields of an SCC mean to OpenShift once it has stored it, a frozenset for a list."""
    declared = {field: value for field, value in scc.items() if field not in _IDENTITY and value is not None}
    # a value that is unknown or of a wrong type is compared as it is written
    readable = {field: value for field, value in declared.items() if _readable(field, value)}
    stored = {
        **declared,
        **defaulted_scc(readable),
        **{field: declared[field] for field in declared.keys() - readable.keys()},
    }
    return {**_ZERO, **{field: _meaning(field, value) for field, value in stored.items()}}


def _readable(field: str, value: Tree) -> bool:
    try:
        defaulted_scc({field: value})
    except InvalidPod:
        return False
    return True


def _meaning(field: str, value: Tree) -> object:
    if field in _CAPABILITIES and isinstance(value, list):
        value = [capability(name) if isinstance(name, str) else name for name in value]
    return _plain(value)


# The value of a field and that of another SCC, of the same type -> whether the value gives no more.
_TIGHTER: Mapping[str, Callable[[Any, Any], bool]] = {
    "allowPrivilegeEscalation": lambda value, _: value is False,
    "readOnlyRootFilesystem": lambda value, _: value is True,
    "volumes": lambda value, base: value <= base,
    ALLOWED: lambda value, base: value <= base,
    REQUIRED_DROP: lambda value, base: ALL_CAPABILITIES in value or value >= base,
}
_CAPABILITIES = (ALLOWED, DEFAULT_ADD, REQUIRED_DROP)
_LISTS = ("seccompProfiles", "allowedFlexVolumes", "allowedUnsafeSysctls", "forbiddenSysctls")
_ZERO: Mapping[str, object] = {
    **dict.fromkeys((*HOST_FIELDS, "allowPrivilegedContainer", "readOnlyRootFilesystem"), False),
    **dict.fromkeys((*_CAPABILITIES, *_LISTS), frozenset()),
    "priority": 0,
}
_DEEPEST = 8


def _plain(value: Tree, depth: int = 0) -> object:
    if depth > _DEEPEST:  # no field of an SCC is
        return None
    if isinstance(value, list):
        return frozenset(_plain(entry, depth + 1) for entry in value)
    if isinstance(value, Mapping):
        return frozenset((key, _plain(entry, depth + 1)) for key, entry in value.items() if entry is not None)
    return value
