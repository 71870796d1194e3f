"""What is declared of an object, as the cluster has it: the declared fields with the values that they have there.

The provider's own answer is not enough. It compares lists by position and to the length of the declared ones, so that
a subject that was added to a binding is no difference to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.apis.quantity import amount
from core.pulumi_values import REDACTED
from toolkit.review import compared_fields, paths
from toolkit.review.compared_fields import HINTS, QUANTITIES, SETS, Fields
from toolkit.review.model import UNKNOWN, Resource
from toolkit.review.paths import Path

_EMPTY: tuple[Any, ...] = (None, False, 0, "", [], {})
"""Values that the server drops where a field is optional."""
_HIDDEN = (UNKNOWN, REDACTED)
_NAMESPACE = ("metadata", "namespace")
"""A live object without one is cluster-scoped; the official provider declares `default` where it does not know that."""
_UNREAD = ("stringData", "status")
"""Fields that a server takes and does not keep as they were sent."""


@dataclass(frozen=True)
class Repaired:
    """An object of the cluster with what is declared of it."""

    body: dict[str, Any]
    removed: tuple[Path, ...]
    """Paths of additions by other owners, which are removed."""


def as_live(resource: Resource) -> dict[str, Any]:
    """Return the inputs of a resource with the values that its `live` has; equal to the inputs where nothing drifted.

    What the cluster has beside is left out, but for what changes the meaning of what is declared: entries of lists,
    keys of maps that are one value, fields that give power.
    """
    rules = compared_fields.of(resource)
    content: Any = _live(dict(resource.inputs), dict(resource.live), (), rules)
    for path in _undeclared(resource.inputs, resource.live, rules):
        content = _with_value(content, path, paths.value(resource.live, path))
    return content if isinstance(content, dict) else {}


def repaired(resource: Resource, content: Mapping[str, Any]) -> Repaired:
    """Return an object as the API server has it, with what the program declares of it re-applied.

    Values of secrets are not known here, and stay.
    """
    rules = compared_fields.of(replace(resource, live=content))
    declared = {key: value for key, value in resource.inputs.items() if key not in _UNREAD}
    repair = _Repair(rules)
    body: Any = repair.value(declared, dict(content), ())
    for path in _undeclared(declared, content, rules):
        body = _with_value(body, path[:-1], {k: v for k, v in paths.value(body, path[:-1]).items() if k != path[-1]})
        repair.removed.append(path)
    return Repaired(body, tuple(repair.removed))


def _undeclared(declared: Mapping[str, Any], live: Mapping[str, Any], rules: Fields) -> list[Path]:
    """Return the paths of fields that count although they are not declared, where they hold something."""
    present = [path for path in rules.counted if not _is_empty(paths.value(live, path))]
    return [path for path in present if paths.value(declared, path) is None]


def _live(declared: Any, live: Any, path: Path, rules: Fields) -> Any:
    if path in rules.owned or declared in _HIDDEN or live in _HIDDEN:
        return declared
    if isinstance(declared, Mapping) and isinstance(live, Mapping):
        return _map(declared, live, path, rules)
    if isinstance(declared, list) and isinstance(live, list):
        return _list(declared, live, path, rules)
    return declared if equivalent(declared, live, quantity=not QUANTITIES.isdisjoint(path)) else live


def _map(declared: Mapping[str, Any], live: Mapping[str, Any], path: Path, rules: Fields) -> dict[str, Any]:
    result = {}
    for key, value in declared.items():
        own = (*path, key)
        if key in live and not _is_hint(own):
            result[key] = _live(value, live[key], own, rules)
        elif _may_be_absent(value, own, rules):
            result[key] = value
    return result | {key: live[key] for key in _added_keys(declared, live, path, rules)}


def _list(declared: list[Any], live: list[Any], path: Path, rules: Fields) -> list[Any]:
    partners = _partners(declared, live, path, rules)
    kept = [
        _live(value, live[partner], (*path, index), rules)
        for index, (value, partner) in enumerate(zip(declared, partners, strict=True))
        if partner is not None
    ]
    return kept + (
        [] if _is_beside(path, rules) else [entry for place, entry in enumerate(live) if place not in partners]
    )


class _Repair:
    def __init__(self, rules: Fields) -> None:
        self._rules = rules
        self.removed: list[Path] = []

    def value(self, declared: Any, live: Any, path: Path) -> Any:
        if path in self._rules.owned or declared in _HIDDEN:
            return live
        if isinstance(declared, Mapping) and isinstance(live, Mapping):
            return self._map(declared, live, path)
        if isinstance(declared, list) and isinstance(live, list):
            return self._list(declared, live, path)
        return live if equivalent(declared, live, quantity=not QUANTITIES.isdisjoint(path)) else declared

    def _map(self, declared: Mapping[str, Any], live: Mapping[str, Any], path: Path) -> dict[str, Any]:
        further = _added_keys(declared, live, path, self._rules)
        self.removed += [(*path, key) for key in further]
        result = {key: value for key, value in live.items() if key not in further}
        for key, value in declared.items():
            own = (*path, key)
            if key in live and not _is_hint(own):
                result[key] = self.value(value, live[key], own)
            elif not _may_be_absent(value, own, self._rules) and value not in _HIDDEN:
                result[key] = value
        return result

    def _list(self, declared: list[Any], live: list[Any], path: Path) -> list[Any]:
        partners = _partners(declared, live, path, self._rules)
        further = [place for place in range(len(live)) if place not in partners]
        kept = [
            value if partner is None else self.value(value, live[partner], (*path, index))
            for index, (value, partner) in enumerate(zip(declared, partners, strict=True))
        ]
        if _is_beside(path, self._rules):
            return kept + [live[place] for place in further]
        self.removed += [(*path, place) for place in further]
        return kept


def _is_hint(path: Path) -> bool:
    return path[:2] == ("metadata", "annotations") and str(path[-1]).startswith(HINTS)


def _are_hints(value: Any, path: Path) -> bool:
    """Whether a value is all annotations of an object, and each of them a hint."""
    if path != ("metadata", "annotations") or not isinstance(value, Mapping):
        return False
    return all(_is_hint((*path, key)) for key in value)


def _may_be_absent(value: Any, path: Path, rules: Fields) -> bool:
    return (
        _is_hint(path)
        or _are_hints(value, path)
        or path in rules.owned
        or _is_empty(value)
        or path in (("stringData",), _NAMESPACE)
    )


def _name(path: Path) -> str:
    """Return the field that a value is of: for an entry of a list, the list."""
    return next((step for step in reversed(path[-2:]) if isinstance(step, str)), "")


def _is_beside(path: Path, rules: Fields) -> bool:
    return _name(path) in rules.beside or path in rules.owned


def _added_keys(declared: Mapping[str, Any], live: Mapping[str, Any], path: Path, rules: Fields) -> list[str]:
    """Return the keys that others have added to a map that is one value."""
    if _name(path) not in rules.whole or _is_beside(path, rules):
        return []
    return [key for key, value in live.items() if key not in declared and not _is_empty(value)]


def _partners(declared: list[Any], live: list[Any], path: Path, rules: Fields) -> list[int | None]:
    """Return for each declared entry the place of that of the cluster: by being equal, by name, by position."""
    if (named := _by_name(declared, live)) is not None:
        return named
    if _name(path) not in SETS:
        return [index if index < len(live) else None for index in range(len(declared))]
    partners: list[int | None] = [None] * len(declared)
    free = list(range(len(live)))
    for index, value in enumerate(declared):
        # Most lists are in order: then each finds its partner at once.
        order = ([index] if index in free else []) + free
        place = next((candidate for candidate in order if _equal(value, live[candidate], (*path, index), rules)), None)
        if place is not None:
            partners[index] = place
            free.remove(place)
    for index, value in enumerate(declared):
        if partners[index] is None and isinstance(value, Mapping) and free:
            partners[index] = free.pop(0)
    return partners


def _equal(declared: Any, live: Any, path: Path, rules: Fields) -> bool:
    if isinstance(declared, Mapping):
        return isinstance(live, Mapping) and bool(_live(declared, live, path, rules) == declared)
    return equivalent(declared, live)


def _by_name(declared: list[Any], live: list[Any]) -> list[int | None] | None:
    places, declared_names = _names(live), _names(declared)
    if places is None or declared_names is None:
        return None
    return [places.get(name) for name in declared_names]


def _names(entries: list[Any]) -> dict[str, int] | None:
    if not all(isinstance(entry, Mapping) and isinstance(entry.get("name"), str) for entry in entries):
        return None
    places = {str(entry["name"]): place for place, entry in enumerate(entries)}
    return places if len(places) == len(entries) else None


def _with_value(content: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    inner = content if isinstance(content, Mapping) else {}
    return {**inner, path[0]: _with_value(inner.get(path[0]), path[1:], value)}


def equivalent(declared: Any, live: Any, *, quantity: bool = False) -> bool:
    """Whether two values mean the same to an API server: empty as absent, and quantities by their amount."""
    if isinstance(declared, bool) or isinstance(live, bool):
        return declared is live
    if declared == live or (_is_empty(declared) and _is_empty(live)):
        return True
    quantity_declared = amount(declared) if quantity else None
    return quantity_declared is not None and quantity_declared == amount(live) and isinstance(live, str)


def _is_empty(value: Any) -> bool:
    return any(value is empty or (type(value) is type(empty) and value == empty) for empty in _EMPTY)
