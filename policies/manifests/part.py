"""Parts of an object as the rules see them, and what they report of one.

Manifests are other people's input: every accessor takes any tree and never raises.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from policies.manifests.values import Path, ReadLog, Tree, Unknown, overlap, read, text


class Violation(NamedTuple):  # made several times as fast as a frozen dataclass
    """One violation of a rule: the message, and the path of the field that it is about.

    `container` is the name of the container, empty when it is about the pod or the object as a whole. Two kinds are
    undetermined: with `link` the other end of a link is not among the objects, with `unknown` it is there and unknown
    until the update. `remedy` is an imperative sentence without final period; empty means the rule's.
    """

    message: str
    path: Path = ()
    container: str = ""
    link: bool = False
    unknown: bool = False
    remedy: str = ""

    def with_remedy(self, remedy: str) -> "Violation":
        """Return the violation with a remedy of its own."""
        return self._replace(remedy=remedy)


class Part:
    """A part of an object: `path` is its place there, `tree` its content."""

    container = ""

    def __init__(self, owner: "Root", path: Path, tree: Tree) -> None:
        self.object = owner
        self.path = path
        self.tree: Mapping[str, Any] = tree if tree.__class__ is dict or isinstance(tree, Mapping) else {}

    def read(self, *keys: str | int) -> Tree:
        """Return the value below `keys`: None when it is absent, an `Unknown` when it is or may be unknown."""
        log = self.object.log
        if log is not None:
            log.add((*self.path, *keys))
        tree: Tree = self.tree
        for key in keys:
            if tree is None:
                return None
            if tree.__class__ is not dict:
                return read(self.tree, *keys)
            tree = tree.get(key)
        return tree

    def mapping(self, *keys: str | int) -> Mapping[str, Any]:
        """Return the mapping below `keys`; empty when there is none."""
        value = self.read(*keys)
        if value is None:
            return {}
        return value if value.__class__ is dict or isinstance(value, Mapping) else {}

    def entries(self, *keys: str | int) -> list[Any]:
        """Return the list below `keys`; empty when there is none."""
        value = self.read(*keys)
        return value if isinstance(value, list) else []

    def text(self, *keys: str | int) -> str:
        """Return the string below `keys`; empty when there is none."""
        value = self.read(*keys)
        return value if isinstance(value, str) else ""

    def parts(self, *keys: str | int) -> "Iterator[Part]":
        """Yield the objects of the list below `keys`; unknown values inside one count when they are read."""
        place = (*self.path, *keys)
        self.depends_on(place, depth=1)
        entries = read(self.tree, *keys)
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, Mapping):
                part = Part(self.object, (*place, index), entry)
                part.container = self.container
                yield part

    def depends_on(self, path: Path, depth: int | None = None) -> None:
        """Record that the rule depends on the values at a path of the object, for what it reads by other means."""
        if self.object.log is not None:
            self.object.log.add(path, depth)

    def hidden(self, *keys: str | int) -> bool:
        """Return whether something at, below or above `keys` is unknown until the update."""
        unknown = self.object.unknown
        return bool(unknown) and any(overlap((*self.path, *keys), value.path) for value in unknown)

    def violation(self, message: str, *keys: str | int) -> Violation:
        """Return a violation at the field below `keys`."""
        return Violation(message, (*self.path, *keys), self.container)

    def unlinked(self, message: str, *keys: str | int) -> Violation:
        """Return that the other end of the link at `keys` is not among the objects."""
        return Violation(message, (*self.path, *keys), self.container, link=True)

    def unverified(self, message: str, *keys: str | int) -> Violation:
        """Return that the other end of the link at `keys` is unknown until the update."""
        return Violation(message, (*self.path, *keys), self.container, unknown=True)


class Root(Part):
    """A whole object as the part that all its others belong to: its identity, and its unknown values.

    Two of them are equal when they are views of one tree.
    """

    def __init__(self, tree: Tree, unknown: tuple[Unknown, ...] = (), log: ReadLog | None = None) -> None:
        super().__init__(self, (), tree)
        self.log = log
        self.claim_templates: Mapping[str, Any] = {}
        """What the ResourceClaimTemplates of its namespace ask for, by name, where they are among the objects."""
        self._declared_unknown = unknown
        self.api_version = text(self.tree.get("apiVersion"))
        self.group, _, self.version = self.api_version.rpartition("/")
        self.kind = text(self.tree.get("kind"))
        metadata = read(self.tree, "metadata")
        self.name = text(read(metadata, "name"))
        self.namespace = text(read(metadata, "namespace"))

    def __str__(self) -> str:
        """Return its kind and name: `MPIJob adas/nccl-test`, with `?` for a part that is unknown."""
        name = self.name or "(no name)"
        return f"{self.kind} {self.namespace}/{name}" if self.namespace else f"{self.kind} {name}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Root) and self.tree is other.tree

    def __hash__(self) -> int:
        return hash(id(self.tree))

    @cached_property
    def unknown(self) -> tuple[Unknown, ...]:
        """All values of the tree that are unknown until the update."""
        return self._declared_unknown
