"""Write a table of the fields of CustomResourceDefinitions, for `tables/`.

    python -m tests.conformance.tabulate --source 'PROJECT VERSION = COMMIT, FOLDER' FILE... > NAME.txt

Descriptions, the status and what only guides merging are left out.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.conformance.definitions import TextLoader
from tests.conformance.tables import FACTS, INDENT, LIST, MAP, TYPES

Schema = Mapping[str, Any]

SHARED_FIELDS = 4
"""An object with that many lines is written once."""
_LEFT_OUT = {"description", "title", "example", "externalDocs", "x-kubernetes-map-type"}
_STRUCTURE = {"type", "properties", "required", "items", "additionalProperties"}
_GENERAL = {"apiVersion", "kind", "metadata", "status"}


def table(definitions: list[Schema], source: str) -> str:
    """Return the table of definitions that have one source."""
    versions = [(entry["spec"], version) for entry in definitions for version in entry["spec"]["versions"]]
    roots = [(spec, version["name"], _root(version)) for spec, version in versions if version["served"]]
    writer = _Writer([root for _, _, root in roots])
    lines = [f"# {source}"]
    for spec, version, root in roots:
        head = f"kind {spec['names']['kind']} {spec['group']}/{version} {spec['names']['plural']} {spec['scope']}"
        lines += ["", *writer.kind(head, root)]
    return "\n".join([*lines, *writer.types(), ""])


def _root(version: Schema) -> Schema:
    root = _plain(version["schema"]["openAPIV3Schema"])
    fields = {name: schema for name, schema in root["properties"].items() if name not in _GENERAL}
    required = [name for name in root.get("required", ()) if name not in _GENERAL]
    return {**root, "properties": fields, "required": required}


def _plain(schema: Schema) -> dict[str, Any]:
    """Return a schema without what a table leaves out, so that the same facts are the same text."""
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            plain[key] = {name: _plain(inner) for name, inner in sorted(value.items())}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            plain[key] = _plain(value)
        elif key == "x-kubernetes-validations":
            plain[key] = [_rule(rule) for rule in value]
        elif key not in _LEFT_OUT and not (key == "x-kubernetes-list-type" and value == "atomic"):
            plain[key] = value
    return plain


def _rule(rule: Schema) -> Any:
    more = {"optionalOldSelf": True} if rule.get("optionalOldSelf") else {}
    text = " ".join(rule["rule"].split())
    return {"rule": text, **more} if more else text


class _Writer:
    """Writes fields; objects that occur more than once in `roots` become types with names."""

    def __init__(self, roots: list[Schema]) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._subtrees: dict[str, Schema] = {}
        for root in roots:
            for name, schema in root["properties"].items():
                self._count(name, schema)

    def kind(self, head: str, root: Schema) -> Iterator[str]:
        """Yield the lines of a kind."""
        yield head + self._facts(root, {})
        yield from self._fields(root, 1)

    def types(self) -> Iterator[str]:
        """Yield the lines of the types, by name."""
        for name, key in sorted((name, key) for key, name in self._names.items()):
            yield ""
            yield f"type {name} object" + self._facts(self._subtrees[key], {})
            yield from self._fields(self._subtrees[key], 1)

    def _count(self, name: str, schema: Schema) -> None:
        if self._may_be_shared(schema):
            key = json.dumps(schema, sort_keys=True)
            self._counts[key] += 1
            first = self._first.setdefault(key, name)
            if self._counts[key] == 2:
                self._names[key] = self._free(first[:1].upper() + first[1:])
                self._subtrees[key] = schema
            if self._counts[key] > 1:
                return
        for inner, below in schema.get("properties", {}).items():
            self._count(inner, below)
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), dict):
                self._count(name, schema[key])

    def _may_be_shared(self, schema: Schema) -> bool:
        return len(list(self._fields(schema, 0))) >= SHARED_FIELDS and "properties" in schema

    def _free(self, name: str) -> str:
        taken = set(self._names.values())
        names = (name, *(f"{name}{number}" for number in range(2, len(taken) + 3)))
        return next(free for free in names if free not in taken)

    def _fields(self, schema: Schema, depth: int) -> Iterator[str]:
        required = schema.get("required", ())
        for name, below in schema.get("properties", {}).items():
            yield from self._field(f"{name}{'!' if name in required else ''}", below, depth)
        for mark, key in ((LIST, "items"), (MAP, "additionalProperties")):
            if isinstance(schema.get(key), dict):
                yield from self._field(mark, schema[key], depth)

    def _field(self, name: str, schema: Schema, depth: int) -> Iterator[str]:
        suffix, inner, facts = "", schema, ""
        while (nested := self._nested(inner)) is not None:
            mark, below = nested
            suffix, facts, inner = mark + suffix, facts + self._facts(inner, {}), below
        key = json.dumps(inner, sort_keys=True)
        if key in self._names:
            yield f"{INDENT * depth}{name} @{self._names[key]}{suffix}{facts}"
            return
        kind, said = _type(inner)
        yield f"{INDENT * depth}{name} {kind}{suffix}{facts}{self._facts(inner, said)}"
        yield from self._fields(inner, depth + 1)

    def _nested(self, schema: Schema) -> tuple[str, Schema] | None:
        """Return the mark and the entries of a list or a map that needs no line for itself."""
        for mark, key in ((LIST, "items"), (MAP, "additionalProperties")):
            entries = schema.get(key)
            if isinstance(entries, dict) and "properties" not in schema:
                named = json.dumps(entries, sort_keys=True) in self._names
                if named or not self._facts(entries, _type(entries)[1]):
                    return mark, entries
        return None

    @staticmethod
    def _facts(schema: Schema, said: Schema) -> str:
        words = []
        for fact, keyword in FACTS.items():
            if keyword in schema and keyword not in said:
                value = schema[keyword]
                bare = value is True and fact != "default"
                words.append(fact if bare else f"{fact}={json.dumps(value, separators=(',', ':'))}")
        other = schema.keys() - FACTS.values() - _STRUCTURE - said.keys()
        if other or set(schema.get("required", ())) - schema.get("properties", {}).keys():
            raise ValueError(f"a table has no word for {sorted(other) or schema['required']}")
        if schema.get("additionalProperties") is True:
            raise ValueError("a table has no word for additionalProperties: true")
        return "".join(f" {word}" for word in words)


def _type(schema: Schema) -> tuple[str, Schema]:
    """Return the type's name in a table, and what it says."""
    fitting = [(name, facts) for name, facts in TYPES.items() if facts.items() <= schema.items()]
    return max(fitting, key=lambda pair: len(pair[1]))


def main() -> None:
    """Print the table of the files named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.tabulate", description=__doc__)
    parser.add_argument("--source", required=True, help="where the files are from: project, version, commit")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a CustomResourceDefinition")
    choice = parser.parse_args()
    texts = [file.read_text(encoding="utf-8") for file in choice.files]
    sys.stdout.write(table([yaml.load(text, Loader=TextLoader) for text in texts], choice.source))  # noqa: S506


if __name__ == "__main__":
    main()
