"""The fields of the API at every level of the platform's kinds, and what each may hold.

`fields.txt` has one type per line: its name, then its fields. A mark behind a field gives what it holds: `$` text, `#`
number, `?` true or false, `:Type` an object of that type, `%` quantities by resource, `{}` an object with any keys,
`[]` a list of what precedes it, nothing: anything. `*` for a field means that there may be others.

Facts of the Kubernetes API as the pinned Python client has them (test_api_fields.py compares), of MPIJob,
SCC and MachineConfig, and of the kubelet's own configuration (k8s.io/kubelet, config/v1beta1, as of 0.17, 0.34 and
0.35: none is gone in between).

`operator_fields.txt` has the same of custom resources, in one release of what defines them
(tests/conformance/field_rows.py writes it). Another release may have other fields.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from core.apis.builtin import BUILTIN, STABLE
from core.apis.kinds import KINDS, ROUTE

_TABLE, OF_OPERATORS = (Path(__file__).with_name(name) for name in ("fields.txt", "operator_fields.txt"))
_LIST, _MAP, _QUANTITIES, _OTHERS = "[]", "{}", "%", "*"


class Content(Enum):
    """What a field holds."""

    ANYTHING = "anything"
    TEXT = "a text"
    NUMBER = "a whole number"
    FLAG = "true or false"
    OBJECT = "an object"
    MAP = "an object with values"
    TEXTS = "an object with texts"
    QUANTITIES = "an object with quantities"


_MARKS = {"$": Content.TEXT, "#": Content.NUMBER, "?": Content.FLAG}


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One field: what it holds, or each entry of its list holds; `type` for an object with known fields."""

    content: Content
    many: bool
    type: "Type | None"


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """One level: `fields` by name; `open_`: it may have others; `of_operator`: other releases may have others."""

    name: str
    fields: Mapping[str, Field]
    open_: bool
    of_operator: bool


@cache
def types() -> Mapping[str, Type]:
    """Return all types by name; what a kind is has the name of the kind."""
    of_operators = _rows(OF_OPERATORS)
    lines = [*_rows(_TABLE), *of_operators]
    later = {name for name, *_ in of_operators}
    fields: dict[str, dict[str, Field]] = {name: {} for name, *_ in lines}
    by_name = {name: Type(name, fields[name], _OTHERS in words, name in later) for name, *words in lines}
    for name, *words in lines:
        fields[name].update(_field(word, by_name) for word in words if word != _OTHERS)
    return by_name


def _rows(table: Path) -> list[list[str]]:
    return [line.split() for line in table.read_text(encoding="ascii").splitlines()]


def _field(word: str, by_name: Mapping[str, Type]) -> tuple[str, Field]:
    declaration = word.removesuffix(_LIST)
    many = declaration != word
    name, colon, kind = declaration.partition(":")
    if colon:
        return name, Field(Content.OBJECT, many, by_name[kind])
    if name.endswith(_QUANTITIES):
        return name.removesuffix(_QUANTITIES), Field(Content.QUANTITIES, many, None)
    mapping = name.endswith(_MAP)
    name = name.removesuffix(_MAP)
    content = _MARKS.get(name[-1], Content.ANYTHING)
    name = name.rstrip("".join(_MARKS))
    if mapping:
        return name, Field(Content.TEXTS if content is Content.TEXT else Content.MAP, many, None)
    return name, Field(content, many, None)


@cache
def root(group: str, kind: str, version: str = "") -> Type:
    """Return the type of a kind's objects; one that knows metadata only for a kind that is not in the table.

    A kind that the platform does not use is known in the newest version of its group.
    """
    used = any((known_kind.group, known_kind.kind) == (group, kind) for known_kind in (*KINDS, ROUTE))
    newest = kind in BUILTIN.get(group, ()) and version in ("", *STABLE[group][-1:])
    type_ = types().get(kind)
    return type_ if type_ is not None and "metadata" in type_.fields and (used or newest) else types()["Object"]


def merged(value: Any, patch: Any) -> Any:
    """Return `value` with `patch` over it; neither is changed."""
    if not isinstance(patch, Mapping):
        return patch
    base = dict(value) if isinstance(value, Mapping) else {}
    for key, part in patch.items():
        if part is None:
            base.pop(key, None)
        else:
            base[key] = merged(base.get(key), part)
    return base


def between(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the smallest patch that makes `new` of `old`. `new` has no nulls."""
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            if inner := between(before, value):
                patch[key] = inner
        elif key not in old or before != value or isinstance(before, bool) is not isinstance(value, bool):
            patch[key] = value
    return patch


def composed(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patch that does what `first`, and then `second` do."""
    patch = dict(first)
    for key, part in second.items():
        before = patch.get(key)
        both = isinstance(before, Mapping) and isinstance(part, Mapping)
        patch[key] = composed(before, part) if both and before is not None else part
    return patch
