"""Objects of a cluster as the rules see them, with the one walk over pod templates that all rules share.

Where a kind keeps its pod templates is data of `apis.kinds`; another version of the same group and kind is walked the
same way, so that a rule does not fall silent when a release moves an object to another version. Kinds that are not
known there are searched (`pod_specs`).
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from apis.kinds import KINDS, POD
from apis.kinds import Path as TemplatePath
from policies.parts import Container, Part, Pod, Step, overlap
from policies.pod_specs import pod_specs
from policies.templates import OBJECTS
from policies.values import Path, Tree, Unknown, read

_LIST = "List"
_OPENSHIFT_TEMPLATE = "template.openshift.io/"
_ITSELF: tuple[TemplatePath, ...] = ((),)
_TEMPLATES: dict[tuple[str, str], tuple[TemplatePath, ...]] = {
    **{(kind.group, kind.kind): kind.pod_templates for kind in KINDS if kind.pod_templates},
    (POD.group, POD.kind): _ITSELF,
}
_KNOWN = frozenset({*((kind.group, kind.kind) for kind in KINDS), *_TEMPLATES})


class Obj(Part):
    """One object.

    `origin` is whatever finds it again; `partial` says that the tree has only some of the object's fields (a patch);
    `unknown` are all values of the tree that are not known. `touched` collects those which a rule met.
    """

    def __init__(
        self, tree: Tree, origin: object = None, *, partial: bool = False, unknown: tuple[Unknown, ...] = ()
    ) -> None:
        self.unknown = unknown
        self.touched: list[Unknown] = []
        super().__init__(None, (), tree)
        self.origin = origin
        self.partial = partial
        self.api_version = _text(self.tree.get("apiVersion"))
        self.group, _, self.version = self.api_version.rpartition("/")
        self.kind = _text(self.tree.get("kind"))
        metadata = read(self.tree, "metadata")
        self.name = _text(read(metadata, "name"))
        self.namespace = _text(read(metadata, "namespace"))

    def __str__(self) -> str:
        """Name it for people: `MPIJob adas/nccl-test`, with `?` for a part that is unknown."""
        name = self.name or "(no name)"
        return f"{self.kind} {self.namespace}/{name}" if self.namespace else f"{self.kind} {name}"

    @cached_property
    def pods(self) -> tuple[Pod, ...]:
        """Its pods: itself, its templates, what an object of an unknown kind holds of them, or none."""
        known = _TEMPLATES.get((self.group, self.kind))
        if known is None:
            return () if (self.group, self.kind) in _KNOWN else tuple(map(self._pod, pod_specs(self.tree)))
        found = ((path, read(self.tree, *path)) for path in known)
        return tuple(Pod(self, path, tree) for path, tree in found if tree is not None)

    def _pod(self, found: tuple[Path, bool]) -> Pod:
        path, step = found
        if step:
            return Step(self, path, read(self.tree, *path))
        return Pod(self, path[:-1], read(self.tree, *path[:-1]), str(path[-1]))

    @property
    def has_pods(self) -> bool:
        """Say whether it is or makes pods, or is of a kind that does."""
        return (self.group, self.kind) in _TEMPLATES or bool(self.pods)

    @property
    def containers(self) -> tuple[Container, ...]:
        """The containers of all its pods."""
        if self.unknown:
            return tuple(container for pod in self.pods for container in pod.containers)
        return self._containers

    @cached_property
    def _containers(self) -> tuple[Container, ...]:
        return tuple(container for pod in self.pods for container in pod.containers)

    def touch(self, path: Path) -> None:
        """Note the unknown values at, below or above `path`."""
        self.touched.extend(value for value in self.unknown if overlap(value.path, path))


def items(tree: Tree) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the object of one manifest, or those of a list or of a Template of OpenShift, however deep.

    Each comes with its place in the manifest. The items of a `PodList` need not say that they are pods.
    """
    waiting: list[tuple[Path, Tree]] = [((), tree)]
    while waiting:
        path, item = waiting.pop()
        field, same = _members(item)
        if field:
            entries = item[field]
            for index in reversed(range(len(entries))):
                entry = entries[index]
                typed = {**same, **entry} if same and isinstance(entry, Mapping) else entry
                waiting.append(((*path, field, index), typed))
        elif isinstance(item, Mapping):
            yield path, item


def _members(item: Tree) -> tuple[str, dict[str, str]]:
    """Return the field with an object's members, empty when it has none, and what all of them are."""
    kind, version = _text(read(item, "kind")), _text(read(item, "apiVersion"))
    if kind.endswith(_LIST) and isinstance(read(item, "items"), list):
        of = kind.removesuffix(_LIST)
        return "items", {"apiVersion": version, "kind": of} if of else {}
    if kind == "Template" and version.startswith(_OPENSHIFT_TEMPLATE) and isinstance(read(item, OBJECTS), list):
        return OBJECTS, {}
    return "", {}


def objects(tree: Tree, origin: object = None) -> Iterator[Obj]:
    """Yield the object of one manifest, or those of a `List`, however deep."""
    return (Obj(item, origin) for _, item in items(tree))


def _text(value: Tree) -> str:
    if isinstance(value, str):
        return value
    return "?" if isinstance(value, Unknown) else ""
