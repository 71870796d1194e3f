"""Fields that the API does not know, or that hold something else than it takes: one walk over a whole object.

The walk follows the types of `core.apis.fields`, so that its depth is bounded by the API and not by what is given.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Any, TypeAlias

from core.apis.fields import Content, Field, Type
from policies.manifests.values import Path, Tree, Unknown, brief
from policies.views.grammars import LIST, Closer, is_qualified, of_type, quantity, value_check

Above: TypeAlias = tuple[tuple[Path, Type], ...]
"""The levels above a field, outermost first, with its own level last."""

_EMPTY = frozenset({type(None)})
_NEVER: frozenset[type] = frozenset()
_NULL = frozenset({"Route"})
"""Kinds of OpenShift's own API server among those of operators."""
_PLAIN: Mapping[Content, frozenset[type]] = {
    Content.TEXT: frozenset({str, Unknown, date, datetime}) | _EMPTY,  # the API server reads unquoted dates as texts
    Content.NUMBER: frozenset({int, Unknown}) | _EMPTY,
    Content.FLAG: frozenset({bool, Unknown}) | _EMPTY,
    Content.ANYTHING: frozenset({str, int, float, bool, dict, list, Unknown}) | _EMPTY,
}
_MAPS = frozenset({Content.MAP, Content.TEXTS, Content.QUANTITIES})
_STANDARD = frozenset(
    {"cpu", "memory", "ephemeral-storage", "storage", "pods", "services", "services.loadbalancers"}
    | {"services.nodeports", "replicationcontrollers", "resourcequotas", "secrets", "configmaps"}
    | {"persistentvolumeclaims"}
)
_RESOURCE = "Write cpu, memory, ephemeral-storage, hugepages-<size>, or a resource of a plugin with its domain"
_LONGEST = 64
_CLOSE = 0.8


@dataclass(frozen=True, slots=True)
class Misfit:
    """One field in the wrong place, or with the wrong content, which `problem` describes, with what to do about it.

    `above` are the levels above it that the API knows.
    """

    path: Path
    problem: str = ""
    remedy: str = ""
    above: Above = ()


@dataclass(frozen=True, slots=True)
class _Entry:
    """A field as the walk needs it.

    `plain` and `plain_each` are the classes of values, and of a list's entries, that need no closer look; `right` those
    that the field takes, whose values `closer` judges.
    """

    content: Content
    many: bool
    mapping: bool
    plain: frozenset[type]
    plain_each: frozenset[type]
    right: frozenset[type]
    closer: Closer | None
    below: "_Level | None"


@dataclass(frozen=True, slots=True)
class _Level:
    type: Type
    fields: Mapping[str, _Entry]


# Where the walk is: the place above, the key, and the level that has the key (None for an entry of a list).
_Frame: TypeAlias = "tuple[_Frame, Any, _Level | None] | None"


@cache
def _level(type_: Type) -> _Level:
    null = not type_.of_operator or type_.name.partition(".")[0] in _NULL
    return _Level(
        type_, {name: _entry(field, value_check(type_.name, name), null) for name, field in type_.fields.items()}
    )


def _entry(field: Field, look: Closer | None, null: bool) -> _Entry:
    below = _level(field.type) if field.type is not None else None
    # A custom resource with a null is refused; of one of Kubernetes' own the API server drops the field.
    right = _PLAIN.get(field.content, _EMPTY if null or below is None or field.many else _NEVER)
    plain = right if look is None else _EMPTY
    mapping = field.content in _MAPS
    items = plain if field.content is Content.ANYTHING else plain - _EMPTY
    return _Entry(field.content, field.many, mapping, _EMPTY if field.many else plain, items, right, look, below)


class Full(Exception):
    """As many misfits as requested have been found."""


class Walk:
    """Goes over one object.

    `misfits` are what does not fit, at most `most`; `hidden` is where an unknown value hides a whole level.
    """

    def __init__(self, tree: Tree, type_: Type, most: int) -> None:
        self.misfits: list[Misfit] = []
        self.hidden: list[Path] = []
        self._most = most
        with suppress(Full):
            self._level(tree, _level(type_), None)

    def _level(self, tree: Mapping[Any, Any], level: _Level, frame: _Frame) -> None:
        fields = level.fields
        for key, value in tree.items():
            entry = fields.get(key)
            if entry is None:
                if not level.type.open_ and (not level.type.of_operator or similar_field(str(key), level.type)):
                    self._add((frame, key, level))
            elif value.__class__ not in entry.plain:
                here = (frame, key, level)
                if entry.many:
                    self._list(value, entry, here)
                elif entry.below is not None and value.__class__ is dict:
                    self._level(value, entry.below, here)
                else:
                    self._value(value, entry, here)

    def _list(self, value: Tree, entry: _Entry, frame: _Frame) -> None:
        if isinstance(value, list):
            plain, below = entry.plain_each, entry.below
            for index, item in enumerate(value):
                if item.__class__ in plain:
                    continue
                if below is not None and item.__class__ is dict:
                    self._level(item, below, (frame, index, None))
                elif item is None and entry.content is not Content.ANYTHING:
                    self._wrong((frame, index, None), "empty", entry.content)
                else:
                    self._value(item, entry, (frame, index, None))
        elif isinstance(value, Unknown):
            self._hide(entry, frame)
        else:
            self._add(frame, f"is {_type_name(value)} where a list is expected", LIST)

    def _value(self, value: Tree, entry: _Entry, frame: _Frame) -> None:
        content = entry.content
        if isinstance(value, Unknown):
            self._hide(entry, frame)
        elif value.__class__ in entry.right or (
            content is Content.NUMBER and isinstance(value, float) and value.is_integer()
        ):
            fault = entry.closer(value) if entry.closer is not None else None
            if fault is not None:
                self._add(frame, fault.problem, fault.remedy)
        elif content is Content.ANYTHING:
            return
        elif entry.below is not None and isinstance(value, Mapping):
            self._level(value, entry.below, frame)
        elif entry.mapping and (value.__class__ is dict or isinstance(value, Mapping)):
            self._map(value, content, frame)
        else:
            self._wrong(frame, _type_name(value), content, _colon(value, content))

    def _map(self, value: Mapping[Any, Any], content: Content, frame: _Frame) -> None:
        for key, entry in value.items():
            if content is Content.QUANTITIES:
                if not _is_resource(str(key)):
                    self._add((frame, key, None), f"is not a name of a resource{_hint(str(key))}", _RESOURCE)
                elif not isinstance(entry, Unknown) and (fault := quantity(entry)) is not None:
                    self._add((frame, key, None), fault.problem, fault.remedy)
            elif content is Content.TEXTS and entry.__class__ not in _PLAIN[Content.TEXT]:
                self._wrong((frame, key, None), _type_name(entry), Content.TEXT, "; write it in quotes")

    def _hide(self, entry: _Entry, frame: _Frame) -> None:
        if entry.below is not None:
            self.hidden.append(_path(frame))

    def _wrong(self, frame: _Frame, description: str, expected: Content, hint: str = "") -> None:
        self._add(frame, f"is {description} where {expected.value} is expected{hint}", of_type(expected))

    def _add(self, frame: _Frame, problem: str = "", remedy: str = "") -> None:
        if len(self.misfits) == self._most:
            raise Full
        self.misfits.append(Misfit(_path(frame), problem, remedy, _above(frame)))


def _path(frame: _Frame) -> Path:
    keys: list[Any] = []
    while frame is not None:
        # YAML has keys that are not texts; JSON turns them into some.
        keys.append(frame[1] if isinstance(frame[1], str | int) else str(frame[1]))
        frame = frame[0]
    return tuple(reversed(keys))


def _above(frame: _Frame) -> Above:
    levels: list[tuple[Path, Type]] = []
    while frame is not None:
        if frame[2] is not None:
            levels.append((_path(frame[0]), frame[2].type))
        frame = frame[0]
    return tuple(reversed(levels))


@lru_cache(maxsize=4096)
def _is_resource(name: str) -> bool:
    plain = name in _STANDARD or name.startswith(("hugepages-", "requests.", "limits.", "count/"))
    return is_qualified(name) and (plain or "/" in name)


def _type_name(value: Tree) -> str:
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, list) else "null" if value is None else brief(value)


def _colon(value: Tree, content: Content) -> str:
    objects = content is Content.OBJECT or content in _MAPS
    return " (a space is missing after a colon?)" if objects and isinstance(value, str) and ":" in value else ""


def _hint(name: str) -> str:
    return " (a space is missing after the colon?)" if ":" in name else unprintable(name)


def similar_field(name: str, type_: Type) -> str:
    """Return the field of a type that is probably meant by a name; nothing where none is similar."""
    folded = {field.casefold(): field for field in type_.fields}
    close = get_close_matches(name[:_LONGEST].strip().casefold(), folded, n=1, cutoff=_CLOSE)
    return folded[close[0]] if close else ""


def unprintable(name: str) -> str:
    """Return the name of an invisible space in a key, e.g. a no-break space; else nothing."""
    odd = next(
        (character for character in name if character != " " and (character.isspace() or not character.isprintable())),
        "",
    )
    return f" (it has the invisible character U+{ord(odd):04X})" if odd else ""
