"""Tables of fields: what is written of a definition, and that reading it gives the definition."""

from typing import Any

import pytest

from tests.conformance import tables
from tests.conformance.tables import TYPES, TableError, read
from tests.conformance.tabulate import table

LABEL: dict[str, Any] = {
    "type": "object",
    "required": ["key"],
    "properties": {name: {"type": "string"} for name in ("effect", "key", "operator", "value")},
}
SPEC: dict[str, Any] = {
    "type": "object",
    "required": ["mode"],
    "properties": {
        "amount": TYPES["quantity"],
        "anything": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "limit": {"type": "integer", "format": "int32", "minimum": 0, "default": 3},
        "listed": {
            "type": "array",
            "items": {"type": "string", "enum": ["a b", "c"]},
            "minItems": 1,
            "x-kubernetes-list-type": "set",
        },
        "many": {"type": "array", "items": LABEL, "x-kubernetes-list-map-keys": ["key"], "nullable": True},
        "mode": {"type": "string", "pattern": "^a b=\\S+$", "default": True},
        "nested": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "boolean"}}},
        "one": LABEL,
        "share": TYPES["int-or-string"],
    },
    "x-kubernetes-validations": [{"rule": "self.limit > 1"}],
}


def definition(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the definition of a Thing with that `spec`."""
    (made,) = read("kind Thing example.com/v1 things Cluster")
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = spec
    return made


def test_a_table_has_what_decides() -> None:
    """A definition that is written as a table and read again is the same, with every fact that decides on an object."""
    assert list(read(table([definition(SPEC)], "somewhere"))) == [definition(SPEC)]


def test_what_occurs_twice_is_written_once() -> None:
    """An object that several fields have is one type, and a field is one line."""
    lines = table([definition(SPEC)], "somewhere 1.0").splitlines()
    assert lines[0] == "# somewhere 1.0"
    assert '    many @Many[] nullable keys=["key"]' in lines
    assert "    one @Many" in lines
    assert lines.count("  key! string") == 1


def test_descriptions_and_what_guides_merging_are_left_out() -> None:
    """Neither a description nor the way in which lists are merged is part of a table."""
    more = {"description": "What it is.", "x-kubernetes-map-type": "atomic"}
    listed = {"type": "array", "items": LABEL | more, "x-kubernetes-list-type": "atomic"}
    spec = {"type": "object", "properties": {"listed": listed}}
    plain = {"type": "object", "properties": {"listed": {"type": "array", "items": LABEL}}}
    assert table([definition(spec | more)], "x") == table([definition(plain)], "x")


@pytest.mark.parametrize(
    "field",
    [
        {"type": "string", "x-kubernetes-new": True},
        {"type": "object", "additionalProperties": True},
        {"type": "object", "required": ["absent"]},
        {"x-kubernetes-int-or-string": True},
    ],
    ids=" ".join,
)
def test_a_fact_without_a_word_is_refused(field: dict[str, Any]) -> None:
    """What a table cannot express is an error when it is written, and is not dropped."""
    with pytest.raises(ValueError, match="a table has no word for"):
        table([definition({"type": "object", "properties": {"x": field}})], "x")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("  x text", "the type is text, none of string"),
        ("  x string size=3", "no fact at ' size=3': x string size=3"),
        ("  x @Absent[]", "no type Absent"),
        ("    x string", "indented too far"),
    ],
)
def test_a_wrong_line_is_refused(line: str, message: str) -> None:
    """A line that cannot be read is an error with its text."""
    with pytest.raises(TableError, match=message):
        list(read(f"kind Thing example.com/v1 things Cluster\n{line}"))


def test_every_kind_is_in_one_table() -> None:
    """No kind and version is in two tables, of which only one would count."""
    names = [
        (entry["metadata"]["name"], version["name"])
        for entry in tables.definitions()
        for version in entry["spec"]["versions"]
    ]
    assert len(names) == len(set(names)) > 0
