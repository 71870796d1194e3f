"""The fields of the API at every level of the platform's kinds, and what each may hold.

`fields.txt` has one type per line: its name, then its fields. A mark behind a field gives what it holds: `$` text, `#`
number, `?` true or false, `:Type` an object of that type, `%` quantities by resource, `{}` an object with any keys,
`[]` a list of what precedes it, nothing: anything. `*` for a field means that there may be others.

Facts of the Kubernetes API as the pinned Python client has them (tests/apis/test_api_fields.py compares), of MPIJob
(platform-facts 1.7), SCC (1.10) and MachineConfig (1.11), and of the kubelet's own configuration (k8s.io/kubelet,
config/v1beta1, as of 0.17, 0.34 and 0.35: none is gone in between).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

from apis.kinds import KINDS

_TABLE = Path(__file__).with_name("fields.txt")
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
    """One level: `fields` by name; `open_`: it may have others."""

    name: str
    fields: Mapping[str, Field]
    open_: bool


@cache
def types() -> Mapping[str, Type]:
    """Return all types by name; what a kind is has the name of the kind."""
    lines = [line.split() for line in _TABLE.read_text(encoding="ascii").splitlines()]
    fields: dict[str, dict[str, Field]] = {name: {} for name, *_ in lines}
    found = {name: Type(name, fields[name], _OTHERS in words) for name, *words in lines}
    for name, *words in lines:
        fields[name].update(_field(word, found) for word in words if word != _OTHERS)
    return found


def _field(word: str, found: Mapping[str, Type]) -> tuple[str, Field]:
    rest = word.removesuffix(_LIST)
    many = rest != word
    name, colon, kind = rest.partition(":")
    if colon:
        return name, Field(Content.OBJECT, many, found[kind])
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
def root(group: str, kind: str) -> Type:
    """Return the type of a kind's objects; one that knows metadata only for a kind that is not in the table."""
    known = any((each.group, each.kind) == (group, kind) for each in KINDS)
    return types().get(kind, types()["Object"]) if known else types()["Object"]
