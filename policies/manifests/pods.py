"""Pods, containers, what these ask for, and steps of workflows: the parts of an object that most rules are about."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from core.apis.quantity import whole
from policies.manifests.part import Part, Root
from policies.manifests.pod_specs import CONTAINERS, SHARED, SINGLE, SPEC, STEPS, VARIABLES, role_of
from policies.manifests.values import Path, Tree, Unknown, brief, is_mapping, read


@dataclass(slots=True)  # a frozen one takes three times as long to make, and there is one per quantity
class Request:
    """One resource that a container asks for: `limit` and `request` are None when absent, and may be `Unknown`."""

    resource: str
    limit: Any
    request: Any

    @property
    def values(self) -> tuple[Any, ...]:
        """The quantities that are written down and known."""
        both = (self.limit, self.request)
        return tuple([value for value in both if value is not None and not isinstance(value, Unknown)])

    @property
    def hidden(self) -> bool:
        """Whether one of the quantities is unknown until the update."""
        return isinstance(self.limit, Unknown) or isinstance(self.request, Unknown)

    @property
    def count(self) -> int:
        """The larger of the quantities as a whole number; 0 when there is none."""
        if self.request is None:
            return whole(self.limit) or 0
        return max((whole(value) or 0 for value in self.values), default=0)


def requests(resources: Tree) -> Iterator[Request]:
    """Yield what a container's `resources` ask for, sorted by resource."""
    if resources is None or not is_mapping(resources):
        return
    limits, requested = (_side(resources.get(side)) for side in ("limits", "requests"))
    for resource in sorted({*limits, *requested}, key=_name):
        yield Request(_name(resource), limits.get(resource), requested.get(resource))


def _name(resource: Any) -> str:
    return resource if isinstance(resource, str) else brief(resource)


def _side(value: Tree) -> Mapping[str, Any]:
    if value is None:
        return {}
    return value if is_mapping(value) else {}


T = TypeVar("T")

CONTAINER_LISTS = ("initContainers", CONTAINERS, "ephemeralContainers")

_STEP = "main"
"""What Argo calls the container of a step."""


class Container(Part):
    """One container of a pod: `group` is the list that it is in."""

    def __init__(self, owner: Root, path: Path, tree: Mapping[str, Any], group: str) -> None:
        super().__init__(owner, path, tree)
        self.group = group
        self._shared: dict[Any, Any] = {}
        name = tree.get("name")
        self.name = name if isinstance(name, str) else "?"
        self.container = self.name

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        """What it requests, sorted by resource; a value of a request may be an `Unknown`."""
        self.depends_on((*self.path, "resources"))
        return tuple(requests(self.tree.get("resources")))

    def once(self, make: Callable[["Container"], T]) -> T:
        """Return `make(self)`, computed at the first call only, since several rules need it."""
        if make not in self._shared:
            self._shared[make] = make(self)
        shared: T = self._shared[make]
        return shared

    def capabilities(self, side: str) -> tuple[str, ...]:
        """Return the capabilities that it adds (`side` is "add") or drops ("drop"), in capitals."""
        names = self.read("securityContext", "capabilities", side)
        return tuple([name.upper() for name in names if isinstance(name, str)]) if isinstance(names, list) else ()


class Pod(Part):
    """One pod, or the pod template of a workload: `tree` is the pod's spec, `path` the place of the spec."""

    def __init__(self, owner: Root, template: Path, tree: Tree, spec: str = SPEC) -> None:
        super().__init__(owner, (*template, spec), read(tree, spec))
        self.role = role_of(template)
        """`Launcher` or `Worker` in an MPIJob, else empty."""
        self.metadata = Part(owner, (*template, "metadata"), read(tree, "metadata"))

    @cached_property
    def containers(self) -> tuple[Container, ...]:
        """All its containers that are known: init containers first, then main and ephemeral ones."""
        if self.object.log is not None:
            for group in CONTAINER_LISTS:  # what is unknown inside a container counts when it is read
                self.depends_on((*self.path, group), depth=1)
        return self._all_containers()

    def _all_containers(self) -> tuple[Container, ...]:
        return tuple(
            [
                Container(self.object, (*self.path, group, index), entry, group)
                for group in CONTAINER_LISTS
                if group in self.tree
                for index, entry in enumerate(_list(self.tree[group]))
                if is_mapping(entry)
            ]
        )

    @property
    def service_account(self) -> str:
        """The service account, by its present or its old field; `default` when none is named."""
        return self.text("serviceAccountName") or self.text("serviceAccount") or "default"


class Step(Pod):
    """A step of a workflow or task: a pod's fields, with its containers in other places than a pod's."""

    def __init__(self, owner: Root, path: Path, tree: Mapping[str, Any]) -> None:
        super().__init__(owner, path, tree)
        steps = [((*path, key), tree.get(key)) for key in (*SINGLE, SHARED)]
        steps += [((*path, key, index), entry) for key in STEPS for index, entry in enumerate(_list(tree.get(key)))]
        self._together = tuple(
            Container(owner, place, {"name": _STEP, **_without_variables(place, entry)}, CONTAINERS)
            for place, entry in steps
            if isinstance(entry, Mapping)
        )
        Part.__init__(self, owner, path, {**tree, CONTAINERS: [container.tree for container in self._together]})

    @property
    def late_images(self) -> tuple[Unknown, ...]:
        """The images that the controller fills in at each run."""
        images = (container.tree.get("image") for container in self._together)
        return tuple(image for image in images if isinstance(image, Unknown))

    def _all_containers(self) -> tuple[Container, ...]:
        return (
            *(container for container in super()._all_containers() if container.group != CONTAINERS),
            *self._together,
        )


def _without_variables(place: Path, tree: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a container whose image is unknown when the controller fills it in at each run."""
    image = tree.get("image")
    if not isinstance(image, str) or not any(mark in image for mark in VARIABLES):
        return tree
    return {**tree, "image": Unknown((*place, "image"), "is filled in at each run")}


def _list(value: Tree) -> list[Any]:
    return value if isinstance(value, list) else []
