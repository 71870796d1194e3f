"""Objects whose names are unknown until the update: each may be the other end of a link that has none."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from core.apis.kinds import Kind
from policies.inventory import Inventory
from policies.objects import Obj

T = TypeVar("T")

_UNKNOWN = "?"


class LateInventory(Inventory):
    """An inventory that stops being complete for a rule that queries a kind with an object of unknown name.

    A rule begins with `fresh()`; what it then queries through `of`, `get` and `once` decides about its links. Other
    rules, and rules that query other kinds, still know what is missing.
    """

    def __init__(self, objects: Iterable[Obj], *, complete: bool) -> None:
        super().__init__(objects, complete=complete)
        self._whole = complete
        self._unnamed = {(obj.group, obj.kind) for obj in self.objects if _UNKNOWN in (obj.name, obj.namespace)}
        self._late: dict[Callable[[Inventory], Any], bool] = {}

    def fresh(self) -> "LateInventory":
        """Forget what was queried, and return this inventory."""
        self.complete = self._whole
        return self

    def of(self, kind: Kind) -> tuple[Obj, ...]:
        """Return the objects of one kind, in any of its versions."""
        self._query(kind)
        return super().of(kind)

    def get(self, kind: Kind, name: str, namespace: str = "") -> Obj | None:
        """Return one object, or None when it is not among them."""
        obj = super().get(kind, name, namespace)
        if obj is None:
            self._query(kind)
        return obj

    def once(self, make: Callable[[Inventory], T]) -> T:
        """Return `make(self)`, computed at the first call only; what it queried counts at every call."""
        before, self.complete = self.complete, self._whole
        result = super().once(make)
        late = self._late.setdefault(make, not self.complete and self._whole)
        self.complete = before and not late
        return result

    def _query(self, kind: Kind) -> None:
        if (kind.group, kind.kind) in self._unnamed:
            self.complete = False
