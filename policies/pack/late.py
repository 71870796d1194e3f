"""Objects whose names are known only after the update: each may be the other end of a link that has none."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from apis.kinds import Kind
from policies.objects import Obj
from policies.world import World

T = TypeVar("T")

_NOT_KNOWN = "?"


class LateWorld(World):
    """A world that is no longer complete to whoever looked among a kind that has an object without a known name.

    A rule begins with `fresh()`; what it then looks at through `of`, `get` and `once` decides about its links. Other
    rules, and rules that look elsewhere, still know what is missing.
    """

    def __init__(self, objects: Iterable[Obj], *, complete: bool) -> None:
        super().__init__(objects, complete=complete)
        self._whole = complete
        self._unnamed = {(each.group, each.kind) for each in self.objects if _NOT_KNOWN in (each.name, each.namespace)}
        self._late: dict[Callable[[World], Any], bool] = {}

    def fresh(self) -> "LateWorld":
        """Forget what was looked at, and return this world."""
        self.complete = self._whole
        return self

    def of(self, kind: Kind) -> tuple[Obj, ...]:
        """Return the objects of one kind, in any of its versions."""
        self._look(kind)
        return super().of(kind)

    def get(self, kind: Kind, name: str, namespace: str = "") -> Obj | None:
        """Return one object, or None when it is not among them."""
        found = super().get(kind, name, namespace)
        if found is None:
            self._look(kind)
        return found

    def once(self, make: Callable[[World], T]) -> T:
        """Return `make(self)`, computed at the first call only; what it looked at counts at every call."""
        before, self.complete = self.complete, self._whole
        found = super().once(make)
        late = self._late.setdefault(make, not self.complete and self._whole)
        self.complete = before and not late
        return found

    def _look(self, kind: Kind) -> None:
        if (kind.group, kind.kind) in self._unnamed:
            self.complete = False
