"""A rule's parameters as the schema that the engine checks a configuration against."""

from collections.abc import Mapping
from typing import Any

from policies.rule import Parameters

_REFERENCE = "#/$defs/"


def properties(parameters: type[Parameters]) -> dict[str, dict[str, Any]]:
    """Return the JSON schema of each parameter, by name; empty when there are none.

    The engine takes properties only, so that what is under `$defs` is put in its place. A model that contains
    itself has no such schema.
    """
    if not parameters.model_fields:
        return {}  # most rules; making a schema takes longer than all else at the start
    schema = parameters.model_json_schema()
    definitions = schema.get("$defs", {})
    return {name: _inline(value, definitions) for name, value in schema.get("properties", {}).items()}


def _inline(schema: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inline(entry, definitions) for entry in schema]
    if not isinstance(schema, Mapping):
        return schema
    reference = schema.get("$ref", "")
    resolved = {**definitions[reference.removeprefix(_REFERENCE)], **schema} if reference else schema
    return {key: _inline(value, definitions) for key, value in resolved.items() if key not in ("$ref", "title")}
