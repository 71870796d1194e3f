"""The judge of custom resources: what it refuses, and that it says when it cannot judge."""

from typing import Any

import pytest

from tests.conformance.definitions import NoSchemaError
from tests.conformance.schema import expect_conformity, violations

KIND = {"apiVersion": "example.com/v1", "kind": "Thing"}


def definition(**schema: Any) -> dict[str, Any]:
    """Return the definition of a Thing whose spec has the field `x` of that schema."""
    whole = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"x": schema}}, "metadata": {"type": "object"}},
    }
    versions = [{"name": "v1", "served": True, "schema": {"openAPIV3Schema": whole}}]
    return {"spec": {"group": "example.com", "names": {"kind": "Thing"}, "versions": versions}}


def judged(value: Any, **schema: Any) -> list[str]:
    """Return the violations of a Thing whose spec.x is `value`."""
    return violations({**KIND, "metadata": {"name": "t"}, "spec": {"x": value}}, [definition(**schema)])


OBJECT = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
MAP_LIST = {"type": "array", "items": OBJECT, "x-kubernetes-list-map-keys": ["a"]}
INT_OR_STRING = {
    "x-kubernetes-int-or-string": True,
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "pattern": "^[0-9]+%$",
}
PAIRS: list[tuple[str, dict[str, Any], Any, Any]] = [
    ("unknown field", OBJECT, {"a": "1"}, {"c": 1}),
    ("no fields known", {"type": "object"}, {}, {"a": 1}),
    ("unknown field in a list", {"type": "array", "items": OBJECT}, [{"a": ""}], [{"c": 1}]),
    ("values of a map", {"type": "object", "additionalProperties": {"type": "string"}}, {"a": "1"}, {"a": 1}),
    ("fields of a map's values", {"type": "object", "additionalProperties": OBJECT}, {"z": {}}, {"z": {"c": 1}}),
    ("preserved, but typed", OBJECT | {"x-kubernetes-preserve-unknown-fields": True}, {"c": 1}, {"a": 1}),
    ("required", OBJECT | {"required": ["a"]}, {"a": ""}, {"b": 1}),
    ("enum", {"type": "string", "enum": ["a", "b"]}, "a", "c"),
    ("type", {"type": "integer"}, 1, "1"),
    ("a truth is not a number", {"type": "integer"}, 1, True),
    ("pattern", {"type": "string", "pattern": "^a+$"}, "aa", "b"),
    ("bounds", {"type": "integer", "minimum": 1, "maximum": 3}, 3, 4),
    ("int32", {"type": "integer", "format": "int32"}, 2**31 - 1, 2**31),
    ("base64", {"type": "string", "format": "byte"}, "YQ==", "?"),
    ("length", {"type": "string", "minLength": 1, "maxLength": 2}, "a", ""),
    ("items", {"type": "array", "items": {"type": "string"}, "maxItems": 1}, ["a"], ["a", "b"]),
    ("nullable", OBJECT | {"nullable": True}, None, {"c": 1}),
    ("not nullable", {"type": "string"}, "", None),
    ("int or string", INT_OR_STRING, 5, 5.5),
    ("pattern of int or string", INT_OR_STRING, "5%", "five"),
    ("set", {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}, ["a"], ["a", "a"]),
    ("map by key", MAP_LIST, [{"a": "1", "b": 1}, {"a": "2", "b": 1}], [{"a": "1", "b": 1}, {"a": "1", "b": 2}]),
    (
        "embedded resource",
        {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}},
        {"apiVersion": "v1", "metadata": {}},
    ),
]


@pytest.mark.parametrize(("what", "schema", "right", "wrong"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_what_a_server_refuses_is_refused(what: str, schema: dict[str, Any], right: Any, wrong: Any) -> None:
    """The schema check accepts what a server accepts and refuses what it refuses, at the field."""
    assert judged(right, **schema) == [], what
    found = judged(wrong, **schema)
    assert found, what
    assert all(each.startswith("spec.x") for each in found), found


def test_defaults_stand_for_what_is_required() -> None:
    """A required field with a default may be left out, as a server fills it in."""
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "default": "x"}}}
    assert judged({}, **schema) == []


def test_metadata_is_typed() -> None:
    """Labels and annotations are texts, and metadata has known fields: `true` as a value is refused."""
    faulty: list[dict[str, Any]] = [{"labels": {"a": True}}, {"annotations": {"a": 1}}, {"lables": {}}]
    for metadata in faulty:
        assert len(violations({**KIND, "metadata": metadata}, [definition(type="string")])) == 1


def test_the_real_schemas_are_strict() -> None:
    """The schema that is found is that of the kind and version: a misspelt field and a missing one are refused."""
    manifest = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "p"}}
    faulty = {**manifest, "spec": {"driver": {"enable": True}}}
    found = violations(faulty)
    assert any("'enable' was unexpected" in each for each in found)
    assert any("'daemonsets' is a required property" in each for each in found)


def test_a_missing_schema_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resource without a schema is skipped with a message, and does not pass."""
    monkeypatch.setenv("CI", "")
    unknown = {**KIND, "metadata": {"name": "t"}}
    for manifest in (unknown, {**unknown, "apiVersion": "nfd.openshift.io/v1alpha1", "kind": "NodeFeatureDiscovery"}):
        with pytest.raises(NoSchemaError, match="no schema of"):
            violations(manifest)
        with pytest.raises(pytest.skip.Exception):
            expect_conformity(manifest)
