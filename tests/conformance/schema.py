"""Whether a custom resource has the shape that its real CustomResourceDefinition asks for.

The structural schema of the definition becomes a JSON schema that is as strict as an API server with
`fieldValidation=Strict`: an unknown field is a violation and not pruned. CEL rules are left out.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import jsonschema
import pytest

from tests.conformance import tables
from tests.conformance.definitions import Manifest, NoSchemaError, Schema
from tests.conformance.definitions import schema as schema_of

_STRINGS = {"type": "object", "additionalProperties": {"type": "string"}}
_TEXT = {"type": "string", "minLength": 1}
_METADATA: Schema = {
    "type": "object",
    "properties": {
        "name": _TEXT,
        "generateName": _TEXT,
        "namespace": _TEXT,
        "labels": {"type": "object", "additionalProperties": {"type": "string", "pattern": r"^[\w.-]{0,63}$"}},
        "annotations": _STRINGS,
        "finalizers": {"type": "array", "items": _TEXT},
        "ownerReferences": {"type": "array"},
    },
    "additionalProperties": False,
}
"""What a manifest may say of itself; the fields that only a server fills are not part of a manifest."""

_FORMATS: dict[str, Schema] = {
    "int32": {"minimum": -(2**31), "maximum": 2**31 - 1},
    "int64": {"minimum": -(2**63), "maximum": 2**63 - 1},
    "byte": {"pattern": r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"},
    "date-time": {"pattern": r"^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$"},
}
_SAME = (
    *("pattern", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
    *("anyOf", "allOf", "oneOf", "not", "x-kubernetes-list-map-keys"),
)
"""Keywords that mean the same in a JSON schema; those of values may not hold structure, so they stay as they are."""


def violations(manifest: Manifest, definitions: Iterable[Manifest] = ()) -> list[str]:
    """Return what an API server would refuse in `manifest`, each with its path; nothing is well.

    `definitions` are CustomResourceDefinitions that come with the manifest; they go before those found on the disk.
    Raises NoSchemaError.
    """
    return _faults(_validator(manifest, definitions), manifest)


def violations_of(table: str, name: str, value: Any) -> list[str]:
    """Return where `value`, which is no resource, differs from the type `name` of a table; nothing is well."""
    return _faults(_VALIDATOR(_strict(tables.schema((tables.FOLDER / f"{table}.txt").read_text(), name))), value)


def _faults(validator: Any, value: Any) -> list[str]:
    faults = sorted((error.json_path, error.message) for error in validator.iter_errors(value))
    return [f"{path.removeprefix('$.')}: {message}" for path, message in faults]


def expect_conformity(*manifests: Manifest, definitions: Iterable[Manifest] = ()) -> None:
    """Fail for violations, and skip with the reason where a schema is missing: under CI=true that fails too."""
    found, missing = [], set()
    for manifest in manifests:
        try:
            faults = violations(manifest, definitions)
        except NoSchemaError as error:
            missing.add(str(error))
        else:
            found += [f"{manifest['kind']} {manifest['metadata']['name']}: {fault}" for fault in faults]
    assert found == []
    if missing:
        pytest.skip("; ".join(sorted(missing)))


def _validator(manifest: Manifest, definitions: Iterable[Manifest]) -> Any:
    kind = (str(manifest["apiVersion"]), str(manifest["kind"]))
    group = kind[0].rpartition("/")[0]
    given = [each for each in definitions if (each["spec"]["group"], each["spec"]["names"]["kind"]) == (group, kind[1])]
    return _VALIDATOR(_strict(schema_of(manifest, given), resource=True)) if given else _found(*kind)


@cache
def _found(api_version: str, kind: str) -> Any:
    """Return the judge by a definition on the disk; some are so long that one a kind is enough."""
    return _VALIDATOR(_strict(schema_of({"apiVersion": api_version, "kind": kind}), resource=True))


def _distinct(_: Any, keys: list[str], instance: Any, schema: Schema) -> Iterator[jsonschema.ValidationError]:
    """Refuse two entries of a list that is a map by `keys`; a key that is left out counts with its default."""
    fields = schema["items"]["properties"]
    seen = set()
    for entry in instance if isinstance(instance, list) else ():
        if isinstance(entry, dict):
            identity = tuple(str(entry.get(key, fields[key].get("default"))) for key in keys)
            if identity in seen:
                yield jsonschema.ValidationError(f"two entries have the same {', '.join(keys)}: {', '.join(identity)}")
            seen.add(identity)


_VALIDATOR = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator, {"x-kubernetes-list-map-keys": _distinct}
)


def _strict(schema: Schema, *, resource: bool = False) -> Schema:
    """Return the JSON schema of a structural one; `resource` has apiVersion, kind and metadata, said or unsaid."""
    strict = {key: schema[key] for key in _SAME if key in schema}
    if "default" in schema:
        strict["default"] = schema["default"]
    strict["allOf"] = [*schema.get("allOf", ()), _FORMATS.get(schema.get("format", ""), {})]
    if "type" in schema:
        strict["type"] = schema["type"]
    if schema.get("x-kubernetes-int-or-string"):
        strict["type"] = ["integer", "string"]
    if schema.get("x-kubernetes-list-type") == "set":
        strict["uniqueItems"] = True
    if "items" in schema:
        strict["items"] = _strict(schema["items"])
    if schema.get("type") == "object":
        strict |= _object(schema, resource=resource or bool(schema.get("x-kubernetes-embedded-resource")))
    return {"if": {"type": "null"}, "else": strict} if schema.get("nullable") else strict


def _object(schema: Schema, *, resource: bool) -> Schema:
    fields = {name: _strict(each) for name, each in schema.get("properties", {}).items()}
    # A server fills in defaults before it looks for what is required.
    required = [name for name in schema.get("required", ()) if "default" not in schema["properties"].get(name, {})]
    if resource:
        fields |= {"apiVersion": _TEXT, "kind": _TEXT, "metadata": _METADATA}
        required += ["apiVersion", "kind"]
    others: bool | Schema = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    if isinstance(schema.get("additionalProperties"), dict):
        others = _strict(schema["additionalProperties"])
    elif schema.get("additionalProperties") is True:
        others = True
    return {"properties": fields, "required": required, "additionalProperties": others}
