"""Kinds and versions that no API group of Kubernetes has."""

import re
from difflib import get_close_matches
from functools import lru_cache
from typing import NamedTuple

from core.apis.builtin import BUILTIN, OF_CLIENTS, STABLE
from core.apis.kinds import KINDS

_UNSTABLE = re.compile(r"v\d+(?:alpha|beta)\d+")
_LIST, _CORE = "List", "v1"
_LONGEST = 64
_CLOSE = 0.75


class UnknownKind(NamedTuple):
    """What is wrong, in which field, and what to do."""

    problem: str
    field: str
    remedy: str


@lru_cache(maxsize=1024)
def unknown_kind(group: str, version: str, kind: str) -> UnknownKind | None:
    """Return why no API server knows a kind; None where it does, and for groups that others than Kubernetes define."""
    foreign = ("." in group and group not in BUILTIN) or ("." not in group and kind in OF_CLIENTS)
    readable = version and kind and "?" not in (group, version, kind)
    if foreign or not readable or max(map(len, (group, version, kind))) > _LONGEST:
        return None
    api_version = f"{group}/{version}" if group else version
    stem = kind.removesuffix(_LIST) or kind
    if group not in BUILTIN:
        close = get_close_matches(group, [name for name in BUILTIN if name], 1)
        return _version(api_version, "names no group of Kubernetes, and others have a dot", _homes().get(stem) or close)
    if stem not in BUILTIN[group] and (group or version == _CORE):
        return _kind(api_version, kind, group)
    if version in STABLE[group] or (group and _UNSTABLE.fullmatch(version)):
        return None
    return _version(api_version, f"is not a version of {group or 'the core API'}", _homes().get(stem) or [group])


def _version(api_version: str, problem: str, right: str | list[str]) -> UnknownKind:
    """Return that the version is wrong; `meant` is the right one, or a list with a group of which it may be."""
    if not isinstance(right, str):
        right = next((f"{group}/{STABLE[group][-1]}".lstrip("/") for group in right if STABLE[group]), "")
    if not right:
        return UnknownKind(f"{api_version} {problem}", "apiVersion", "Write a version that the API has")
    return UnknownKind(f"{api_version} {problem}; did you mean {right}?", "apiVersion", f"Write apiVersion: {right}")


def _kind(api_version: str, kind: str, group: str) -> UnknownKind:
    homes = _homes()
    if home := homes.get(kind):
        problem = f"{kind} is not a kind of {api_version}; it is of {home}"
        return UnknownKind(problem, "apiVersion", f"Write apiVersion: {home}")
    in_group = {kind_name.casefold(): kind_name for kind_name in BUILTIN[group]}
    in_any_group = {kind_name.casefold(): kind_name for kind_name in homes}
    folded = kind.casefold()
    close = get_close_matches(folded, in_group, 1, _CLOSE) or get_close_matches(folded, in_any_group, 1, _CLOSE)
    name = {**in_any_group, **in_group}[close[0]] if close else ""
    if not name:
        return UnknownKind(f"{kind} is not a kind of {api_version}", "kind", "Write a kind that the API has")
    if name in BUILTIN[group]:
        return UnknownKind(
            f"{kind} is not a kind of {api_version}; did you mean {name}?", "kind", f"Write kind: {name}"
        )
    problem = f"{kind} is not a kind of {api_version}; did you mean {name} of {homes[name]}?"
    return UnknownKind(problem, "kind", f"Write kind: {name} and apiVersion: {homes[name]}")


@lru_cache(maxsize=1)
def _homes() -> dict[str, str]:
    """Return the version that has a kind, by kind."""
    homes = {kind.kind: kind.api_version for kind in reversed(KINDS)}
    for group, kinds in BUILTIN.items():
        if STABLE[group]:
            api_version = f"{group}/{STABLE[group][-1]}".lstrip("/")
            homes.update({kind: api_version for kind in kinds if kind not in homes})
    return homes
