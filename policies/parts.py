"""Parts of an object as the rules see them: pods, containers, steps.

Manifests are other people's input: every accessor here takes any tree and never raises.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from policies.pod_specs import CONTAINERS, SINGLE, SPEC, STEPS, VARIABLES, role_of
from policies.resources import Request, requests
from policies.rule import Remark
from policies.values import Path, Tree, Unknown, read

if TYPE_CHECKING:
    from policies.objects import Obj

T = TypeVar("T")

CONTAINER_LISTS = ("initContainers", CONTAINERS, "ephemeralContainers")

_STEP = "main"
"""What Argo calls the container of a step."""


class Part:
    """A part of an object: `path` is its place there, `tree` its content."""

    container = ""

    def __init__(self, owner: "Obj | None", path: Path, tree: Tree) -> None:
        self.object: Obj = owner if owner is not None else self  # type: ignore[assignment]
        self.path = path
        self.tree: Mapping[str, Any] = tree if tree.__class__ is dict or isinstance(tree, Mapping) else {}

    def read(self, *keys: str | int) -> Tree:
        """Return the value below `keys`: None when it is absent, an `Unknown` when it is or may be unknown."""
        if self.object.unknown:
            self.object.touch((*self.path, *keys))
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
        """Yield the objects of the list below `keys`; what is unknown inside one is noted only when it is read."""
        place = (*self.path, *keys)
        for value in self.object.unknown:
            if len(value.path) <= len(place) + 1 and overlap(value.path, place):
                self.object.touched.append(value)
        entries = read(self.tree, *keys)
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, Mapping):
                part = Part(self.object, (*place, index), entry)
                part.container = self.container
                yield part

    def hidden(self, *keys: str | int) -> bool:
        """Say whether something at, below or above `keys` is not known before the update."""
        return any(overlap((*self.path, *keys), value.path) for value in self.object.unknown)

    def remark(self, message: str, *keys: str | int) -> Remark:
        """Say that the rule is broken, at the field below `keys`."""
        return Remark(message, (*self.path, *keys), self.container)

    def unlinked(self, message: str, *keys: str | int) -> Remark:
        """Say that the other end of the link at `keys` is not among the objects."""
        return Remark(message, (*self.path, *keys), self.container, link=True)

    def unverified(self, message: str, *keys: str | int) -> Remark:
        """Say that the other end of the link at `keys` is not known before the update."""
        return Remark(message, (*self.path, *keys), self.container, unknown=True)


class Container(Part):
    """One container of a pod: `group` is the list that it stands in."""

    def __init__(self, owner: "Obj", path: Path, tree: Mapping[str, Any], group: str) -> None:
        super().__init__(owner, path, tree)
        self.group = group
        name = tree.get("name")
        self.name = name if isinstance(name, str) else "?"
        self.container = self.name

    @property
    def requests(self) -> tuple[Request, ...]:
        """What it asks for, sorted by resource; a value of a request may be an `Unknown`."""
        if self.object.unknown:
            self.object.touch((*self.path, "resources"))
        return self._requests

    def once(self, make: Callable[["Container"], T]) -> T:
        """Return `make(self)`, computed at the first call only, since several rules ask for it."""
        if make not in self._shared:
            self._shared[make] = make(self)
        shared: T = self._shared[make]
        return shared

    @cached_property
    def _shared(self) -> dict[Any, Any]:
        return {}

    @cached_property
    def _requests(self) -> tuple[Request, ...]:
        return tuple(requests(self.tree.get("resources")))

    def capabilities(self, side: str) -> tuple[str, ...]:
        """Return the capabilities that it adds (`side` is "add") or drops ("drop"), in capitals."""
        names = self.read("securityContext", "capabilities", side)
        return tuple(name.upper() for name in names if isinstance(name, str)) if isinstance(names, list) else ()


class Pod(Part):
    """One pod, or the pod template of a workload: `tree` is the pod's spec, `path` the place of the spec."""

    def __init__(self, owner: "Obj", template: Path, tree: Tree, spec: str = SPEC) -> None:
        super().__init__(owner, (*template, spec), read(tree, spec))
        self.role = role_of(template)
        """`Launcher` or `Worker` in an MPIJob, else empty."""
        self.metadata = Part(owner, (*template, "metadata"), read(tree, "metadata"))

    @property
    def containers(self) -> tuple[Container, ...]:
        """All its containers that are known: init containers first, then main and ephemeral ones."""
        if self.object.unknown:
            self._touch_lists()
        return self._containers

    @cached_property
    def _containers(self) -> tuple[Container, ...]:
        return tuple(
            Container(self.object, (*self.path, group, index), entry, group)
            for group in CONTAINER_LISTS
            for index, entry in enumerate(_list(self.tree.get(group)))
            if entry.__class__ is dict or isinstance(entry, Mapping)
        )

    def _touch_lists(self) -> None:
        depth = len(self.path) + 2  # of a container; what is unknown below it is another matter
        for value in self.object.unknown:
            if len(value.path) <= depth and any(overlap(value.path, (*self.path, group)) for group in CONTAINER_LISTS):
                self.object.touched.append(value)

    @property
    def service_account(self) -> str:
        """The service account, by its present or its old field; `default` when none is named."""
        return self.text("serviceAccountName") or self.text("serviceAccount") or "default"


class Step(Pod):
    """A step of a workflow or task: a pod's fields, with its containers in other places than a pod's."""

    def __init__(self, owner: "Obj", path: Path, tree: Mapping[str, Any]) -> None:
        super().__init__(owner, path, tree)
        found = [((*path, key), tree.get(key)) for key in SINGLE]
        found += [((*path, key, index), entry) for key in STEPS for index, entry in enumerate(_list(tree.get(key)))]
        self._together = tuple(
            Container(owner, place, {"name": _STEP, **self._without_variables(place, entry)}, CONTAINERS)
            for place, entry in found
            if isinstance(entry, Mapping)
        )
        Part.__init__(self, owner, path, {**tree, CONTAINERS: [each.tree for each in self._together]})

    def _without_variables(self, place: Path, tree: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a container whose image, when the controller fills it in at each run, is not known."""
        image = tree.get("image")
        if not isinstance(image, str) or not any(mark in image for mark in VARIABLES):
            return tree
        hidden = Unknown((*place, "image"))
        self.object.unknown += (hidden,)
        return {**tree, "image": hidden}

    @cached_property
    def _containers(self) -> tuple[Container, ...]:
        return (*(each for each in super()._containers if each.group != CONTAINERS), *self._together)


def overlap(one: Path, other: Path) -> bool:
    """Say whether one path is the other, or leads to it."""
    length = min(len(one), len(other))
    return one[:length] == other[:length]


def _list(value: Tree) -> list[Any]:
    return value if isinstance(value, list) else []
