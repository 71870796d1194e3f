"""What lets a refused pod in with the least rights: fields to leave out, or an SCC with just what the pod asks for."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from policies.manifests.values import Path, Tree, is_mapping
from policies.scc import InvalidPod
from policies.scc.defaults import defaulted_pod
from policies.scc.pods import Pod, read
from policies.scc.seccomp import CONTAINER_ANNOTATION, POD_ANNOTATION, PROFILE, written

Fields = Mapping[str, Any]
Admits = Callable[[Fields, Fields], bool]
"""Whether a pod is admitted by an SCC."""

_FILLED_IN = (PROFILE, "seLinuxOptions", "runAsUser", "fsGroup", "supplementalGroups")
"""Fields of a security context that an SCC fills in, or does without, where a pod leaves them out."""
_ANNOTATIONS = (POD_ANNOTATION, CONTAINER_ANNOTATION)
_ANY = {"type": "RunAsAny"}


@dataclass(frozen=True)
class LeastScc:
    """An SCC that differs from `base` in the fields of `changes` alone, which the pod asks for."""

    base: str
    changes: Fields
    manifest: Fields


def left_out(pod: Fields, sccs: Iterable[Fields], admits: Admits) -> tuple[str, tuple[Path, ...]] | None:
    """Return an SCC that admits a pod without some fields, and these; None when no such fields are in the way.

    Root stays: a program that asks for it seldom does without.
    """
    every = list(sccs)
    for fields in (*((field,) for field in _FILLED_IN), _FILLED_IN):
        places: list[Path] = []
        other = _without(pod, fields, (), places)
        for scc in every if places else ():
            if admits(other, scc):
                return scc["metadata"]["name"], tuple(places)
    return None


def _without(tree: Tree, fields: Sequence[str], path: Path, places: list[Path]) -> Tree:
    if isinstance(tree, list):
        return [_without(value, fields, (*path, index), places) for index, value in enumerate(tree)]
    if not is_mapping(tree):
        return tree
    kept: dict[str, Any] = {}
    for key, value in tree.items():
        if value != 0 and (
            (key in fields and path[-1:] == ("securityContext",))
            or (PROFILE in fields and path[-1:] == ("annotations",) and key.startswith(_ANNOTATIONS))
        ):
            places.append((*path, key))
        else:
            kept[key] = _without(value, fields, (*path, key), places)
    return kept


def least_scc(name: str, pod: Fields, bases: Iterable[Fields], admits: Admits) -> LeastScc | None:
    """Return the SCC with the fewest changes of one of `bases` that admits a pod; None when none of these does."""
    try:
        seen = read(defaulted_pod(pod))
    except InvalidPod:
        return None
    candidates = [least for base in bases if (least := _least(name, pod, seen, base, admits)) is not None]
    return min(candidates, key=lambda candidate: len(candidate.changes), default=None)


def _least(name: str, pod: Fields, seen: Pod, base: Fields, admits: Admits) -> LeastScc | None:
    changes = dict(_changes(seen, base))
    if not admits(pod, {**base, **changes}):
        return None
    for field in list(changes):
        fewer = {key: value for key, value in changes.items() if key != field}
        if admits(pod, {**base, **fewer}):
            changes = fewer
    own: Fields = {"metadata": {"name": name}, "users": [], "groups": [], "priority": None}
    return LeastScc(base["metadata"]["name"], changes, {**base, **changes, **own})


def _changes(pod: Pod, base: Fields) -> Iterator[tuple[str, Any]]:
    """Yield each field of an SCC with what allows all that a pod asks for, and no more."""
    added = {name for container in pod.containers if container.capabilities for name in container.capabilities.add}
    yield "allowedCapabilities", sorted(added)
    yield (
        "requiredDropCapabilities",
        [capability for capability in base.get("requiredDropCapabilities") or [] if capability not in added],
    )
    seccomp = [pod.seccomp, *(container.seccomp for container in pod.containers)]
    profiles = {written(profile) for profile in seccomp if profile is not None} - {""}
    profiles |= {value for key, value in pod.annotations.items() if key.startswith(_ANNOTATIONS)}
    yield "seccompProfiles", sorted({*(base.get("seccompProfiles") or []), *profiles})
    users = {container.user if container.user is not None else pod.user for container in pod.containers} - {None}
    yield "runAsUser", {"type": "MustRunAs", "uid": users.pop()} if len(users) == 1 else _ANY
    if pod.fs_group is not None:
        yield "fsGroup", _of([pod.fs_group])
    if pod.groups:
        yield "supplementalGroups", _of(pod.groups)
    contexts = {pod.selinux, *(container.selinux for container in pod.containers)} - {None}
    if len(contexts) == 1 and (options := contexts.pop()) is not None:
        yield (
            "seLinuxContext",
            {"type": "MustRunAs", "seLinuxOptions": {k: v for k, v in options._asdict().items() if v}},
        )
    elif contexts:
        yield "seLinuxContext", _ANY
    kinds = {volume.type for volume in pod.volumes}
    yield "allowHostDirVolumePlugin", "hostPath" in kinds or bool(base.get("allowHostDirVolumePlugin"))
    yield "volumes", sorted({*(base.get("volumes") or []), *kinds})
    yield (
        "allowHostPorts",
        any(container.host_ports for container in pod.containers) or bool(base.get("allowHostPorts")),
    )
    for field, asked in (("Network", pod.host_network), ("PID", pod.host_pid), ("IPC", pod.host_ipc)):
        yield f"allowHost{field}", asked or bool(base.get(f"allowHost{field}"))
    if pod.sysctls:
        yield "allowedUnsafeSysctls", sorted(pod.sysctls)
    yield "allowPrivilegeEscalation", any(container.escalation for container in pod.containers)


def _of(groups: Sequence[int]) -> Fields:
    return {"type": "MustRunAs", "ranges": [{"min": group, "max": group} for group in sorted({*groups})]}
