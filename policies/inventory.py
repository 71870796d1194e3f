"""All objects that are known together, for the rules about links between them."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from apis.kinds import Kind
from policies.objects import Obj

T = TypeVar("T")


class Inventory:
    """The objects at hand.

    `complete` says that they are all there is: what a link names and is not among them does not exist. Otherwise it
    may exist elsewhere, and the link cannot be verified.
    """

    def __init__(self, objects: Iterable[Obj] = (), *, complete: bool = False) -> None:
        self.complete = complete
        self.objects = tuple(objects)
        self._by_kind: dict[tuple[str, str], list[Obj]] = defaultdict(list)
        self._by_name: dict[tuple[str, str, str, str], Obj] = {}
        for found in self.objects:
            self._by_kind[found.group, found.kind].append(found)
            self._by_name.setdefault((found.group, found.kind, found.namespace, found.name), found)
        self._shared: dict[Callable[[Inventory], Any], Any] = {}

    def of(self, kind: Kind) -> tuple[Obj, ...]:
        """Return the objects of one kind, in any of its versions."""
        return tuple(self._by_kind.get((kind.group, kind.kind), ()))

    def get(self, kind: Kind, name: str, namespace: str = "") -> Obj | None:
        """Return one object, or None when it is not among them."""
        return self._by_name.get((kind.group, kind.kind, namespace, name))

    def once(self, make: Callable[["Inventory"], T]) -> T:
        """Return `make(self)`, computed at the first call only: an index that several rules or objects share."""
        if make not in self._shared:
            self._shared[make] = make(self)
        shared: T = self._shared[make]
        return shared
