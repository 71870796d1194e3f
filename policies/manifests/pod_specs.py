"""Where objects of unknown kinds have their pods: found by the shape of their content.

A custom resource hands its pod template on to a controller, which makes pods of it; a rule that only reads known
kinds misses them. What describes or matches pods, and makes none, is left out.
"""

from collections.abc import Iterator
from typing import Any

from core.apis.kinds import find
from policies.manifests.values import Path, Tree, Unknown

SPEC = "spec"
CONTAINERS = "containers"
SINGLE = ("container", "script")
"""Fields of a step with one container (templates of Argo Workflows)."""
STEPS = ("steps", "sidecars")
"""Lists of a step whose containers run beside one another (tasks of Tekton; the sidecars of both)."""
SHARED = "stepTemplate"
"""What all steps of a task of Tekton have in common: the fields of a container."""
VARIABLES = ("{{", "$(")
"""What the values of a step begin with that are filled in at each run."""

_HOLDERS = frozenset({"template", "podTemplate", SPEC})
_PATCHES = frozenset({"podTemplateOverrides", "runtimePatches"})
"""Fields of a TrainJob that change the pods of its runtime; they may have a pod's fields without containers."""
_PLACING = frozenset({"nodeName", "priorityClassName", "schedulerName", "serviceAccountName", "tolerations"})
_ADDED = "PodDefault"
"""A kind whose spec Kubeflow's webhook merges into pods of its namespace: fields of a pod and of its containers."""
NO_PODS = frozenset(
    {"metadata", "status", "openAPIV3Schema"}  # described, not made
    | {"pattern", "anyPattern", "patchStrategicMerge"}  # of Kyverno's policies
)
"""Fields whose content makes no pods."""
_CONTENT = ("spec", "rules", "roleRef", "webhooks")
"""Fields that an object has and a reference to one has not."""
_ROLE = 2
"""Where the role is in a path: behind spec and mpiReplicaSpecs."""
_DEEPEST = 64
_MOST = 1000
"""Pods of one object; what makes more of them than this has the same fault in the first ones."""


def role_of(path: Path) -> str:
    """Return the role that the pod at or above a path has in its MPIJob: `Launcher`, `Worker`, or none."""
    return str(path[_ROLE]) if len(path) > _ROLE and path[_ROLE - 1] == "mpiReplicaSpecs" else ""


def is_object(tree: Tree) -> bool:
    """Return whether a mapping within an object is one itself, and not a reference to one or a description of a kind.

    One without metadata is an object where its kind is known to have the content.
    """
    version, kind = tree.get("apiVersion"), tree.get("kind")
    if version.__class__ is not str or kind.__class__ is not str or not kind[:1].isupper():
        return False
    if tree.get("metadata").__class__ is dict:
        return True
    return any(tree.get(field).__class__ in (dict, list) for field in _CONTENT) and find(version, kind) is not None


def pod_specs(tree: Tree) -> Iterator[tuple[Path, bool]]:
    """Yield the paths of pod specs in document order; True when it is a step, whose containers are elsewhere."""
    if tree.get("kind") == _ADDED and tree.get(SPEC).__class__ is dict:
        yield (SPEC,), False
        return
    waiting: list[tuple[Path, Any, bool]] = [((), tree, False)]
    count = 0
    while waiting and count < _MOST:
        path, value, holds = waiting.pop()
        if value.__class__ is dict:
            if path and is_object(value):
                continue  # it is examined as an object of its own
            spec = _is_whole(value.get(CONTAINERS)) or (
                holds and (_has_containers(value.get(CONTAINERS)) or _is_patch(path, value))
            )
            if spec or _is_step(path, value):
                count += 1
                yield path, not spec
            elif len(path) < _DEEPEST:
                waiting.extend(_below(path, value))
        elif len(path) < _DEEPEST:
            waiting.extend(
                ((*path, index), value[index], False)
                for index in range(len(value) - 1, -1, -1)
                if value[index].__class__ in (dict, list)
            )


def _below(path: Path, tree: dict[Any, Any]) -> Iterator[tuple[Path, Any, bool]]:
    for key in reversed(tree):
        value = tree[key]
        if value.__class__ in (dict, list) and key not in NO_PODS:
            holds = key == "podSpec" or (
                key == SPEC
                and (
                    (path and path[-1] in _HOLDERS)
                    or (len(path) > 1 and path[-2] in _PATCHES)
                    or tree.get("kind") == "Pod"  # a manifest within one
                )
            )
            yield (*path, key), value, bool(holds)


def _has_containers(value: Tree) -> bool:
    if value.__class__ is not list:
        return isinstance(value, Unknown)
    return any(entry.__class__ is dict and ("image" in entry or "name" in entry) for entry in value)


def _is_whole(value: Tree) -> bool:
    """Return whether a list holds containers and nothing else: it makes a pod, whatever its field is called."""
    return (
        value.__class__ is list
        and bool(value)
        and all(entry.__class__ is dict and isinstance(entry.get("image"), str) and "name" in entry for entry in value)
    )


def _is_patch(path: Path, tree: dict[Any, Any]) -> bool:
    return not _PLACING.isdisjoint(tree) and not _PATCHES.isdisjoint(path)


def _is_step(path: Path, tree: dict[Any, Any]) -> bool:
    if "steps" in tree:
        return tree["steps"].__class__ is list and any(_is_container(entry) for entry in tree["steps"])
    if len(path) > 1 and path[-2] == "templates":
        return any(_is_container(tree.get(key)) for key in SINGLE)
    return False


def _is_container(value: Tree) -> bool:
    return value.__class__ is dict and isinstance(value.get("image"), str | Unknown)
