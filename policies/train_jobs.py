"""The pod that a TrainJob of Kubeflow Trainer completes: its `trainer`, and its patches of the runtime's pod template.

What the TrainJob leaves to its runtime is unknown here. The runtime itself is examined with its own pod template.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from apis.trainer import NODE
from policies.part import Part, Root
from policies.pods import Container, Pod
from policies.values import Path, Tree, Unknown, entries, mapping, read

_TRAINER: Path = ("spec", "trainer")
PATCHES = "runtimePatches"
_OF_TRAINER = ("image", "command", "args", "env")
_OF_RUNTIME = ("image", "securityContext", "resources", "volumeMounts")
"""Fields of a container that the runtime has where the TrainJob does not state them."""
_OF_RUNTIMES_POD = ("securityContext", "serviceAccountName", "volumes")


class TrainedPod(Pod):
    """The pod of the container `node`: `merged` are the paths of the patches that are part of it."""

    def __init__(self, owner: Root, trainer: Mapping[str, Any], patches: list[tuple[Path, Mapping[str, Any]]]) -> None:
        path = patches[-1][0] if patches else _TRAINER[:1]
        super().__init__(owner, path, {})
        self.merged = frozenset((*place, "spec") for place, _ in patches)
        self.path = (*path, "spec") if patches else _TRAINER[:1]
        pod: dict[str, Any] = {key: Unknown((*self.path, key)) for key in _OF_RUNTIMES_POD}
        node: dict[str, Any] = {key: Unknown((*_TRAINER, key)) for key in _OF_RUNTIME}
        metadata: dict[str, Any] = {}
        for _, patch in patches:
            pod |= mapping(patch, "spec")
            metadata |= mapping(patch, "metadata")
            for entry in entries(patch, "spec", "containers"):
                if read(entry, "name") == NODE and isinstance(entry, Mapping):
                    node |= entry
        node |= {key: trainer[key] for key in _OF_TRAINER if key in trainer}
        if "resourcesPerNode" in trainer:
            node["resources"] = trainer["resourcesPerNode"]
        node["name"] = NODE
        pod["containers"] = [node]
        self.tree = pod
        self.metadata = Part(owner, (*path, "metadata"), metadata)
        self._node = node

    @property
    def late(self) -> Iterator[Unknown]:
        """The values that the runtime decides."""
        values = (*self.tree.values(), *self._node.values())
        return (value for value in values if isinstance(value, Unknown))

    def _all_containers(self) -> tuple[Container, ...]:
        return (Container(self.object, _TRAINER, self._node, "containers"),)


def trained(owner: Root) -> TrainedPod | None:
    """Return the pod that a TrainJob completes; None where it leaves all of it to its runtime."""
    trainer = mapping(owner.tree, *_TRAINER)
    patches = list(_patches(owner.tree))
    return TrainedPod(owner, trainer, patches) if trainer or patches else None


def _patches(tree: Tree) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the patches of the pod template of the job that trains, each with its path."""
    inside: Path = ("trainingRuntimeSpec", "template", "spec", "replicatedJobs")
    for index, patch in enumerate(entries(tree, "spec", PATCHES)):
        for number, job in enumerate(entries(patch, *inside)):
            template = read(job, "template", "spec", "template")
            if read(job, "name") == NODE and isinstance(template, Mapping):
                yield ("spec", PATCHES, index, *inside, number, "template", "spec", "template"), template
