"""The fields of custom resources whose operators publish no Go module, as tables: `tables/*.txt`, and how to read them.

A table has one field per line, indented below the object that it belongs to: its name, `!` if the object requires it,
its type, and facts as `name=JSON`, or the bare name for true. `[]` and `{}` stand for the entries of a list and the
values of a map, behind a type or as the name of a field with facts of its own. `@Name` is a subtree that stands once in
the file, below `type Name`. A line `kind` begins a kind: its name, its group and version, its plural and its scope.
`apiVersion`, `kind`, `metadata` and `status` of an object are not part of a table. Any other field is refused.

`tabulate` writes a table from a CustomResourceDefinition.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from core.apis import kinds

Schema = dict[str, Any]

FOLDER = Path(__file__).parent / "tables"
INDENT = "  "
LIST, MAP = "[]", "{}"
INT_OR_STRING: Schema = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
_NUMBER = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
_QUANTITY = rf"^(\+|-)?{_NUMBER}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{_NUMBER}))?$"
TYPES: Mapping[str, Schema] = {
    **{name: {"type": name} for name in ("string", "integer", "number", "boolean", "object", "array")},
    **{name: {"type": "integer", "format": name} for name in ("int32", "int64")},
    "int-or-string": INT_OR_STRING,
    "quantity": INT_OR_STRING | {"pattern": _QUANTITY},
    "any": {},
}
"""Type in a table -> what a schema says of it."""
FACTS: Mapping[str, str] = {
    **{name: name for name in ("format", "enum", "pattern", "default", "nullable", "multipleOf")},
    **{name: name for name in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength")},
    **{name: name for name in ("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties")},
    **{name: name for name in ("anyOf", "allOf", "oneOf", "not")},
    "listType": "x-kubernetes-list-type",
    "keys": "x-kubernetes-list-map-keys",
    "open": "x-kubernetes-preserve-unknown-fields",
    "embedded": "x-kubernetes-embedded-resource",
    "rules": "x-kubernetes-validations",
}
"""Fact in a table -> the keyword of a schema. `rules` are in CEL."""
_FACT = re.compile(r" (\w+)(=?)")
_NESTED = {LIST: "items", MAP: "additionalProperties"}


class TableError(Exception):
    """A line of a table cannot be read; the message has the line."""


@dataclass
class _Line:
    """A line with the lines below it."""

    words: str
    below: list["_Line"] = field(default_factory=list)


@cache
def definitions() -> tuple[Schema, ...]:
    """Return the definitions of all tables: one for every kind and version."""
    files = sorted(FOLDER.glob("*.txt"))
    return tuple(definition for file in files for definition in read(file.read_text(encoding="utf-8")))


def read(text: str) -> Iterator[Schema]:
    """Yield the CustomResourceDefinitions of a table.

    Raises TableError.
    """
    lines = _tree(text)
    named = {line.words.split()[1]: line for line in lines if line.words.startswith("type ")}
    for line in lines:
        first, *words = line.words.split(" ", 5)
        if first == "kind":
            name, api_version, plural, scope, *facts = words
            yield _definition(name, api_version, plural, scope, _schema(" ".join(("object", *facts)), line, named))


def schema(text: str, name: str) -> Schema:
    """Return the schema of the subtree that a table calls `name`.

    Raises TableError.
    """
    named = {line.words.split()[1]: line for line in _tree(text) if line.words.startswith("type ")}
    return _schema(f"@{name}", _Line(""), named)


def _tree(text: str) -> list[_Line]:
    roots: list[_Line] = []
    path: list[_Line] = []
    for line in text.splitlines():
        words = line.lstrip()
        if words and not words.startswith("#"):
            depth = (len(line) - len(words)) // len(INDENT)
            if depth > len(path):
                raise TableError(f"indented too far: {line}")
            entry = _Line(words)
            (path[depth - 1].below if depth else roots).append(entry)
            path = [*path[:depth], entry]
    return roots


def _schema(words: str, line: _Line, named: Mapping[str, _Line]) -> Schema:
    """Return the schema of `words`, which are a type and its facts, with the fields below `line`."""
    kind, _, rest = words.partition(" ")
    facts = dict(_facts(f" {rest}" if rest else "", line))
    for suffix, outer in ((LIST, "array"), (MAP, "object")):
        if kind.endswith(suffix):
            return {"type": outer, _NESTED[suffix]: _schema(kind.removesuffix(suffix), line, named), **facts}
    if kind.startswith("@"):
        target = named.get(kind[1:])
        if target is None:
            raise TableError(f"no type {kind[1:]}: {line.words}")
        return _schema(target.words.split(" ", 2)[2], target, named) | facts
    if kind not in TYPES:
        raise TableError(f"the type is {kind}, none of {', '.join(TYPES)}: {line.words}")
    return {**TYPES[kind], **_fields(line.below, named), **facts}


def _fields(lines: Iterable[_Line], named: Mapping[str, _Line]) -> Schema:
    schema: Schema = {}
    for line in lines:
        name, _, words = line.words.partition(" ")
        if name in _NESTED:
            schema[_NESTED[name]] = _schema(words, line, named)
            continue
        if name.endswith("!"):
            name = name[:-1]
            schema.setdefault("required", []).append(name)
        schema.setdefault("properties", {})[name] = _schema(words, line, named)
    return schema


def _facts(words: str, line: _Line) -> Iterator[tuple[str, Any]]:
    place = 0
    while place < len(words):
        match = _FACT.match(words, place)
        if match is None or match[1] not in FACTS:
            raise TableError(f"no fact at {words[place:]!r}: {line.words}")
        value: Any = True
        place = match.end()
        if match[2]:
            value, place = json.JSONDecoder().raw_decode(words, place)
        if match[1] == "rules":
            value = [{"rule": rule} if isinstance(rule, str) else rule for rule in value]
        yield FACTS[match[1]], value


def _definition(name: str, api_version: str, plural: str, scope: str, root: Schema) -> Schema:
    group, _, version = api_version.partition("/")
    open_: Schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    general = {"apiVersion": TYPES["string"], "kind": TYPES["string"], "metadata": TYPES["object"], "status": open_}
    whole = {**root, "properties": {**general, **root.get("properties", {})}}
    return {
        "apiVersion": kinds.CUSTOM_RESOURCE_DEFINITION.api_version,
        "kind": kinds.CUSTOM_RESOURCE_DEFINITION.kind,
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"kind": name, "listKind": f"{name}List", "plural": plural, "singular": name.lower()},
            "versions": [
                {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": whole}},
            ],
        },
    }
