"""The pod that a TrainJob of Kubeflow Trainer completes: its `trainer`, and its patches of the runtime's pod template.

Where the runtime is at hand, all of it is put over the runtime's pod template, as the controller does. Otherwise what
the TrainJob leaves to its runtime is unknown here. The runtime itself is examined with its own pod template, too.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from core.apis.kinds import CLUSTER_TRAINING_RUNTIME, TRAINING_RUNTIME
from core.apis.trainer import ANCESTOR, NODE, STEP
from policies.manifests.part import Part, Root
from policies.manifests.pods import Container, Pod
from policies.manifests.values import Path, Tree, Unknown, entries, is_mapping, mapping, read, text

_TRAINER: Path = ("spec", "trainer")
RUNTIME: Path = ("spec", "runtimeRef")
"""The field of a TrainJob that names its runtime."""
_REPLICATED: Path = ("spec", "template", "spec", "replicatedJobs")
_POD: Path = ("template", "spec", "template")
PATCHES, OVERRIDES = "runtimePatches", "podTemplateOverrides"
_OF_RUNTIME = ("image", "securityContext", "resources", "volumeMounts")
"""Fields of a container that the runtime has where the TrainJob does not state them."""
_OF_RUNTIMES_POD = ("securityContext", "serviceAccountName", "volumes")


class TrainedPod(Pod):
    """The pod of the container `node`: `merged` are the paths of the patches that are part of it."""

    def __init__(self, owner: Root, runtime: Root | None, patches: list[tuple[Path, Mapping[str, Any]]]) -> None:
        path = patches[-1][0] if patches else _TRAINER[:1]
        super().__init__(owner, path, {})
        self.merged = frozenset((*place, "spec") for place, _ in patches)
        self.path = (*path, "spec") if patches else _TRAINER[:1]
        template = self._without_runtime() if runtime is None else _template(runtime.tree)
        for _, patch in patches:
            template = merged(template, {key: patch[key] for key in ("metadata", "spec") if key in patch})
        pod = dict(mapping(template, "spec"))
        node = _completed(_node(pod), mapping(owner.tree, *_TRAINER))
        others = [entry for entry in entries(pod, "containers") if read(entry, "name") != NODE] if runtime else []
        pod["containers"] = [node, *others]
        self.tree = pod
        self.metadata = Part(owner, (*path, "metadata"), mapping(template, "metadata"))
        self._node = node

    def _without_runtime(self) -> dict[str, Any]:
        reason = f"{runtime_named(self.object.tree)}, which is not among the objects, decides part of its pods"
        pod: dict[str, Any] = {key: Unknown((*self.path, key), reason, RUNTIME) for key in _OF_RUNTIMES_POD}
        node = {key: Unknown((*_TRAINER, key), reason, RUNTIME) for key in _OF_RUNTIME}
        return {"spec": {**pod, "containers": [{"name": NODE, **node}]}}

    @property
    def late(self) -> Iterator[Unknown]:
        """The values that the runtime decides."""
        values = (*self.tree.values(), *self._node.values())
        return (value for value in values if isinstance(value, Unknown))

    def _all_containers(self) -> tuple[Container, ...]:
        first, *others = (entry for entry in self.tree["containers"] if is_mapping(entry))
        claims = self._claims()
        return (
            Container(self.object, _TRAINER, first, "containers", claims),
            *(Container(self.object, _TRAINER, entry, "containers", claims) for entry in others),
            *(
                Container(self.object, _TRAINER, entry, "initContainers", claims)
                for entry in entries(self.tree, "initContainers")
                if is_mapping(entry)
            ),
        )


def trained_pod(owner: Root, runtime: Root | None) -> TrainedPod | None:
    """Return the pod that a TrainJob completes; None where it leaves all of it to a runtime that is not at hand."""
    patches = list(_patches(owner.tree))
    if runtime is not None and (runtime.unknown or not _template(runtime.tree)):
        runtime = None
    if runtime is not None:
        patches += _overrides(owner.tree)
    is_complete = runtime is not None or mapping(owner.tree, *_TRAINER) or patches
    return TrainedPod(owner, runtime, patches) if is_complete else None


def runtime_key(tree: Tree) -> tuple[str, str, str]:
    """Return kind, namespace and name of the runtime that a TrainJob names."""
    kind = text(read(tree, *RUNTIME, "kind")) or CLUSTER_TRAINING_RUNTIME.kind
    namespace = text(read(tree, "metadata", "namespace")) if kind == TRAINING_RUNTIME.kind else ""
    return kind, namespace, text(read(tree, *RUNTIME, "name"))


def runtime_named(tree: Tree) -> str:
    """Return the runtime that a TrainJob names as a finding names it."""
    kind, namespace, name = runtime_key(tree)
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def _template(runtime: Tree) -> dict[str, Any]:
    """Return the pod template of the job that trains in a runtime; empty without one."""
    for job in entries(runtime, *_REPLICATED):
        if read(job, "template", "metadata", "labels", ANCESTOR) == STEP:
            return dict(mapping(job, *_POD))
    return next((dict(mapping(job, *_POD)) for job in entries(runtime, *_REPLICATED) if read(job, "name") == NODE), {})


def _node(pod: Tree) -> dict[str, Any]:
    return next((dict(entry) for entry in entries(pod, "containers") if read(entry, "name") == NODE), {"name": NODE})


def _completed(node: dict[str, Any], trainer: Mapping[str, Any]) -> dict[str, Any]:
    settings = {key: trainer[key] for key in ("image", "command", "args", "env") if key in trainer}
    if isinstance(settings.get("env"), list):
        settings["env"] = merged(node.get("env"), settings["env"], "env")
    if "resourcesPerNode" in trainer:
        settings["resources"] = merged(node.get("resources"), trainer["resourcesPerNode"])
    return {**node, **settings}


def _patches(tree: Tree) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    inside: Path = ("trainingRuntimeSpec", "template", "spec", "replicatedJobs")
    for index, patch in enumerate(entries(tree, "spec", PATCHES)):
        for number, job in enumerate(entries(patch, *inside)):
            template = read(job, "template", "spec", "template")
            if read(job, "name") == NODE and isinstance(template, Mapping):
                yield ("spec", PATCHES, index, *inside, number, "template", "spec", "template"), template


def _overrides(tree: Tree) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield what patches were called before Trainer 2.2, each with its path."""
    for index, override in enumerate(entries(tree, "spec", OVERRIDES)):
        if any(read(job, "name") == NODE for job in entries(override, "targetJobs")):
            yield ("spec", OVERRIDES, index), override


_NAMED_BY: Mapping[str, str] = {
    **dict.fromkeys(("containers", "initContainers", "ephemeralContainers", "volumes", "env"), "name"),
    **dict.fromkeys(("resourceClaims", "imagePullSecrets"), "name"),
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "ports": "containerPort",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
}
"""What names the entries of a list; other lists are replaced."""


def merged(base: Tree, patch: Tree, field: str = "") -> Tree:
    """Return a tree with a patch of it; `field` is the name of the field that both are in. Neither is changed."""
    if is_mapping(base) and is_mapping(patch):
        result: dict[str, Any] = dict(base)
        for key, value in patch.items():
            if value is None:
                result.pop(key, None)
            else:
                result[key] = merged(base.get(key), value, key)
        return result
    if isinstance(base, list) and isinstance(patch, list) and field in _NAMED_BY:
        return _merged_entries(base, patch, _NAMED_BY[field])
    return patch


def _merged_entries(base: list[Tree], patch: list[Tree], key: str) -> list[Tree]:
    result = list(base)
    places = {name: index for index, entry in enumerate(base) if isinstance(name := read(entry, key), str | int)}
    for entry in patch:
        name = read(entry, key)
        index = places.get(name) if isinstance(name, str | int) else None
        if index is None:
            result.append(entry)
        else:
            result[index] = merged(result[index], entry)
    return result
