"""The one walk over pod templates that all rules share.

Where a kind keeps its pod templates is data of `apis.kinds`; another version of the same group and kind is walked the
same way, so that a rule does not fall silent when a release moves an object to another version.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apis.kinds import KINDS, POD, Path
from policies.values import Tree, Unknown, plain

CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")

_ITSELF: tuple[Path, ...] = ((),)
_TEMPLATES: dict[tuple[str, str], tuple[Path, ...]] = {
    **{(kind.group, kind.kind): kind.pod_templates for kind in KINDS if kind.pod_templates},
    (POD.group, POD.kind): _ITSELF,
}


@dataclass(frozen=True)
class Container:
    """One container of a pod: `group` is the list that it stands in, `path` its place in the object."""

    name: str
    group: str
    path: str
    manifest: Mapping[str, Any]

    def read(self, *keys: str) -> Tree:
        """Return the value below `keys`: None when it is absent, an `Unknown` when it is or may be unknown."""
        return read(self.manifest, *keys)


@dataclass(frozen=True)
class Pod:
    """One pod (template) of an object; unknown parts stand in `unknown`, never left out in silence."""

    path: str
    spec: Mapping[str, Any]
    containers: tuple[Container, ...]
    unknown: tuple[Unknown, ...]


def read(tree: Tree, *keys: str) -> Tree:
    """Follow `keys` into a plain tree: None when one is absent, the `Unknown` met first when there is one."""
    for key in keys:
        if isinstance(tree, Unknown):
            return tree
        if not isinstance(tree, Mapping):
            return None
        tree = tree.get(key)
    return tree


def describe(manifest: Mapping[str, Any]) -> str:
    """Name an object for people: `MPIJob adas/nccl-test`, with `?` for a part that is unknown."""
    kind, namespace, name = (
        _text(read(manifest, *keys)) for keys in (("kind",), ("metadata", "namespace"), ("metadata", "name"))
    )
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def pods(manifest: Tree) -> Iterator[Pod]:
    """Yield the pods of one manifest or of a `List`; a dict or a policy proxy, with or without unknown values."""
    tree = plain(manifest)
    if read(tree, "kind") == "List":
        for item in read(tree, "items") or ():
            yield from pods(item)
        return
    group, _, _ = str(read(tree, "apiVersion") or "").rpartition("/")
    for path in _TEMPLATES.get((group, str(read(tree, "kind")).removesuffix("Patch")), ()):
        template = read(tree, *path)
        if template is not None:
            yield _pod(".".join((*path, "spec")), read(template, "spec"))


def _pod(path: str, spec: Tree) -> Pod:
    if not isinstance(spec, Mapping):
        unknown = (spec,) if isinstance(spec, Unknown) else ()
        return Pod(path=path, spec={}, containers=(), unknown=unknown)
    known: list[Container] = []
    hidden: list[Unknown] = []
    for group in CONTAINER_LISTS:
        entries = spec.get(group) or ()
        for index, entry in enumerate((entries,) if isinstance(entries, Unknown) else entries):
            if isinstance(entry, Unknown):
                hidden.append(entry)
            elif isinstance(entry, Mapping):
                place = f"{path}.{group}[{index}]"
                known.append(Container(_text(entry.get("name")) or place, group, place, entry))
    return Pod(path=path, spec=spec, containers=tuple(known), unknown=tuple(hidden))


def _text(value: Tree) -> str:
    return "?" if isinstance(value, Unknown) else str(value or "")
