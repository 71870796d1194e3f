"""Fields that the API does not know, or that hold something else than it takes: one walk over a whole object.

The walk follows the types of `apis.fields`, so that its depth is bounded by the API and not by what is given.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache
from reprlib import repr as brief
from typing import Any, TypeAlias

from apis.fields import Content, Field, Type
from policies.names import is_qualified
from policies.values import Path, Tree, Unknown

Above: TypeAlias = tuple[tuple[Path, Type], ...]
"""The levels above a field, outermost first, with its own level last."""

_NONE: frozenset[type] = frozenset()
_EMPTY = frozenset({type(None)})
_PLAIN: Mapping[Content, frozenset[type]] = {
    Content.TEXT: frozenset({str, Unknown, date}) | _EMPTY,  # the API server reads an unquoted date as a text
    Content.NUMBER: frozenset({int, Unknown}) | _EMPTY,
    Content.FLAG: frozenset({bool, Unknown}) | _EMPTY,
    Content.ANYTHING: frozenset({str, int, float, bool, dict, list, Unknown}) | _EMPTY,
}
_STANDARD = frozenset(
    {"cpu", "memory", "ephemeral-storage", "storage", "pods", "services", "services.loadbalancers"}
    | {"services.nodeports", "replicationcontrollers", "resourcequotas", "secrets", "configmaps"}
    | {"persistentvolumeclaims"}
)
_STANDARD_PREFIXES = ("hugepages-", "requests.", "limits.", "count/")


@dataclass(frozen=True, slots=True)
class Misfit:
    """One field in the wrong place (`known` False) or with the wrong content; `why` says which."""

    path: Path
    why: str = ""
    above: Above = ()


class Walk:
    """Goes over one object; `hidden` collects where an unknown value hides a whole level."""

    def __init__(self) -> None:
        self.hidden: list[Path] = []

    def level(self, tree: Mapping[str, Any], type_: Type, path: Path, above: Above = ()) -> Iterator[Misfit]:
        """Yield what does not fit at one level and below it."""
        fields = _fields(type_)
        for key, value in tree.items():
            found = fields.get(key)
            if found is None:
                if not type_.open_:
                    yield Misfit((*path, key), above=(*above, (path, type_)))
            elif value.__class__ not in found[0]:
                field = found[1]
                inspect = self._list if field.many else self._value
                yield from inspect(value, field, (*path, key), (*above, (path, type_)))

    def _list(self, value: Tree, field: Field, path: Path, above: Above) -> Iterator[Misfit]:
        if isinstance(value, list):
            plain = _PLAIN.get(field.content, _NONE) - _EMPTY
            for index, entry in enumerate(value):
                if entry is None and field.content is not Content.ANYTHING:
                    yield Misfit((*path, index), f"is empty where {field.content.value} is expected")
                elif entry.__class__ not in plain:
                    yield from self._value(entry, field, (*path, index), above)
        elif isinstance(value, Unknown):
            self._hide(field, path)
        else:
            yield Misfit(path, f"is {_what(value)} where a list is expected")

    def _value(self, value: Tree, field: Field, path: Path, above: Above) -> Iterator[Misfit]:
        content = field.content
        if isinstance(value, Unknown):
            self._hide(field, path)
        elif content is Content.ANYTHING:
            return
        elif field.type is not None and isinstance(value, Mapping):
            yield from self.level(value, field.type, path, above)
        elif content is Content.NUMBER and isinstance(value, float) and value.is_integer():
            return
        elif content in _MAPS and isinstance(value, Mapping):
            yield from self._map(value, content, path)
        else:
            yield Misfit(path, f"is {_what(value)} where {content.value} is expected{_colon(value, content)}")

    def _hide(self, field: Field, path: Path) -> None:
        if field.type is not None:
            self.hidden.append(path)

    def _map(self, value: Mapping[Any, Any], content: Content, path: Path) -> Iterator[Misfit]:
        for key, entry in value.items():
            if content is Content.QUANTITIES and not _is_resource(str(key)):
                yield Misfit((*path, key), f"is no name of a resource{_hint(str(key))}")
            elif content is Content.TEXTS and entry.__class__ not in _PLAIN[Content.TEXT]:
                yield Misfit((*path, key), f"is {_what(entry)} where a text is expected; write it in quotes")


@cache
def _fields(type_: Type) -> Mapping[str, tuple[frozenset[type], Field]]:
    """Return the fields of a level, each with the classes of values that need no closer look."""
    return {
        name: (_EMPTY if field.many else _PLAIN.get(field.content, _EMPTY), field)
        for name, field in type_.fields.items()
    }


_MAPS = frozenset({Content.MAP, Content.TEXTS, Content.QUANTITIES})


@lru_cache(maxsize=4096)
def _is_resource(name: str) -> bool:
    plain = name in _STANDARD or name.startswith(_STANDARD_PREFIXES)
    return is_qualified(name) and (plain or "/" in name)


def _what(value: Tree) -> str:
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, list) else brief(value)


def _colon(value: Tree, content: Content) -> str:
    objects = content is Content.OBJECT or content in _MAPS
    return " (a space is missing after a colon?)" if objects and isinstance(value, str) and ":" in value else ""


def _hint(name: str) -> str:
    return " (a space is missing after the colon?)" if ":" in name else unprintable(name)


def unprintable(name: str) -> str:
    """Name the character of a key that is a space without looking like one, e.g. a no-break space; else nothing."""
    odd = next((each for each in name if each != " " and (each.isspace() or not each.isprintable())), "")
    return f" (it has the invisible character U+{ord(odd):04X})" if odd else ""
