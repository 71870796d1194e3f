"""The part of a pod template that SCC admission reads, as a pod of its own."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from policies.manifests.pods import CONTAINER_LISTS, Pod
from policies.manifests.values import Path, Tree, Unknown, is_mapping, overlap
from policies.scc import REQUIRED_ANNOTATION
from policies.scc.seccomp import CONTAINER_ANNOTATION, POD_ANNOTATION

_FIELDS = ("hostNetwork", "hostPID", "hostIPC", "hostUsers", "os", "securityContext")
_OF_CONTAINER = ("securityContext", "ports")
_ANNOTATIONS = (REQUIRED_ANNOTATION, POD_ANNOTATION, CONTAINER_ANNOTATION)
_WITH_CONTENT = ("projected", "flexVolume")
_DEEPEST = 12


def admission_part(pod: Pod) -> dict[str, Any]:
    """Return the pod with what matters alone, so that equal demands are equal trees; fresh down to its spec."""
    tree, annotations = pod.tree, pod.metadata.tree.get("annotations")
    if annotations is not None and isinstance(annotations, Mapping):
        annotations = {key: annotations[key] for key in annotations if _counts(key)}
    # Names of containers matter to annotations only.
    fields = ("name", *_OF_CONTAINER) if annotations else _OF_CONTAINER
    spec: dict[str, Any] = {key: tree[key] for key in _FIELDS if key in tree}
    if (volumes := tree.get("volumes")) is not None:
        spec["volumes"] = [*map(_volume, volumes)] if isinstance(volumes, list) else volumes
    for group in CONTAINER_LISTS:
        if (containers := tree.get(group)) is not None:
            spec[group] = [_only(entry, fields) for entry in containers] if isinstance(containers, list) else containers
    return {"metadata": {"annotations": annotations}, "spec": spec} if annotations else {"spec": spec}


def _volume(entry: Tree) -> Tree:
    if not is_mapping(entry):
        return entry
    return {key: entry[key] if key in _WITH_CONTENT or entry[key] is None else {} for key in entry if key != "name"}


def _only(entry: Tree, fields: tuple[str, ...]) -> Tree:
    if not is_mapping(entry):
        return entry
    return {key: entry[key] for key in fields if key in entry}


def hidden(pod: Pod) -> Iterator[Unknown]:
    """Yield the values of a pod that admission reads and that are unknown."""
    for value in pod.object.unknown:
        for root, matters in ((pod.path, _in_spec), (pod.metadata.path, _in_metadata)):
            if overlap(value.path, root) and matters(value.path[len(root) :]):
                yield value


def _in_metadata(path: Path) -> bool:
    return not path or (path[0] == "annotations" and (len(path) == 1 or _counts(path[1])))


def _counts(annotation: object) -> bool:
    return isinstance(annotation, str) and annotation.startswith(_ANNOTATIONS)


def _in_spec(path: Path) -> bool:
    match path:
        case ("volumes", _, field, *below):
            return field in _WITH_CONTENT or (not below and field != "name")
        case (group, _, "ports", _, field, *_) if group in CONTAINER_LISTS:
            return field == "hostPort"
        case (group, _, field, *_) if group in CONTAINER_LISTS:
            return field in _OF_CONTAINER
        case (field, *_):
            return field == "volumes" or field in _FIELDS or field in CONTAINER_LISTS
    return True


def pruned(tree: Tree, depth: int = 0) -> Tree:
    """Return a tree without what is unknown, too deep, or no JSON."""
    if isinstance(tree, Mapping):
        pairs = ((key, pruned(tree[key], depth + 1)) for key in tree if depth < _DEEPEST and isinstance(key, str))
        return {key: value for key, value in pairs if value is not None}
    if isinstance(tree, list):
        entries = (pruned(value, depth + 1) for value in tree if depth < _DEEPEST)
        return [value for value in entries if value is not None]
    return tree if isinstance(tree, str | int | float) else None


def freed(tree: Tree, fields: Collection[str]) -> Tree:
    """Return a tree without the ids and levels of these fields, wherever they are; root is none of them."""
    if isinstance(tree, Mapping):
        return {key: freed(value, fields) for key, value in tree.items() if key not in fields or value == 0}
    return [freed(entry, fields) for entry in tree] if isinstance(tree, list) else tree
