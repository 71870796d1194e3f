"""Every field is one that the API knows at its place, with a value of its type."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import NamedTuple

from core.apis.builtin import BUILTIN, OF_CLIENTS, STABLE
from core.apis.fields import root
from core.apis.kinds import CUSTOM_RESOURCE_DEFINITION, KINDS
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path, Unknown, brief, is_mapping
from policies.rule import ALL_KINDS, Parameters, Rule, Severity
from policies.views.fields import Walk
from policies.views.placement import explain

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
    homes = {kind.kind: kind.api_version for kind in reversed(KINDS)}
    for group, kinds in BUILTIN.items():
        if STABLE[group]:
            api_version = f"{group}/{STABLE[group][-1]}".lstrip("/")
            homes.update({kind: api_version for kind in kinds if kind not in homes})
    return homes


_MOST = 20
_MEANT, _MISSPELT = "did you mean", "Correct the name of the field"
_ALIAS, _PRESENT = "serviceAccount", "serviceAccountName"
_OF_THE_SERVER = frozenset(
    {"creationTimestamp", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}
)


def _known_fields(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    if fault := unknown_kind(subject.group, subject.version, subject.kind):
        yield subject.violation(fault.problem, fault.field).with_remedy(fault.remedy)
    walk = Walk(subject.tree, root(subject.group, subject.kind, subject.version), _MOST + 1)
    for misfit in walk.misfits[:_MOST]:
        message = explain(misfit)
        yield subject.violation(message, *misfit.path).with_remedy(
            misfit.remedy or (_MISSPELT if _MEANT in message else "")
        )
    if len(walk.misfits) > _MOST:
        yield subject.violation("further fields do not fit and are not listed")
    for path in walk.hidden:
        subject.depends_on(path)
    dump = _server_fields(subject)
    if dump is not None:
        yield dump
    for pod in subject.pods:
        alias = pod.tree.get(_ALIAS)
        if alias and (dump is None or alias != pod.tree.get(_PRESENT)):  # the API server fills in the alias, too
            yield pod.violation(f"{_ALIAS} is a deprecated alias of {_PRESENT}", _ALIAS).with_remedy(
                f"Write {_PRESENT}: {brief(alias)}" if isinstance(alias, str) else f"Write {_PRESENT}"
            )


def _server_fields(subject: Obj) -> Violation | None:
    paths: list[Path] = []
    metadata = subject.tree.get("metadata")
    if is_mapping(metadata) and not _OF_THE_SERVER.isdisjoint(metadata):
        paths += [("metadata", key) for key in sorted(_OF_THE_SERVER) if metadata.get(key) is not None]
    status = subject.tree.get("status")
    declared = not subject.partial and subject.kind != CUSTOM_RESOURCE_DEFINITION.kind  # a policy compares states
    if declared and status is not None and not isinstance(status, Unknown):
        paths.append(("status",))
    if not paths:
        return None
    fields = [str(path[-1]) for path in paths]
    listed = ", ".join(fields)
    if fields[1:]:
        message = f"is a dump of a live object: {listed} are set by the API server"
    else:
        message = f"{listed} is set by {'controllers' if fields == ['status'] else 'the API server'}"
    return subject.violation(message, *paths[0]).with_remedy(
        f"Delete {listed}; a manifest does not declare what the server sets"
    )


KNOWN_FIELDS = Rule(
    name="known-fields",
    what="Every field, including apiVersion and kind, is where the API defines it and has a value that the API "
    "accepts. None is set by the server or is a deprecated alias.",
    why="The API server drops an unknown field silently, so it has no effect: capabilities beside securityContext, a "
    "command inside resources. With strict validation it refuses the object (strict decoding error: unknown field "
    '"spec.containers[0].runAsUser"). It always refuses an unknown kind or an invalid quantity (no matches for kind '
    '"Deploymnt" in version "apps/v1").',
    remedy="Move the field to where the API defines it, or delete it",
    source="E-14, E-15, E-21, E-24, E-25, E-40, E-54; github.com/NVIDIA/aicr/pull/50",
    severity=Severity.MANDATORY,
    examine=_known_fields,
    kinds=ALL_KINDS,
)
