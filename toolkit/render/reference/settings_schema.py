"""The JSON Schema of a stack's file and of a base.

Without a base all that a stack needs is in its file. With one, and in a base, any part of the settings may be: nothing
is required there, and what is written is still checked.
"""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from core.model import LEFT_OUT
from stacks.loading.bases import SETTING
from stacks.loading.settings import Settings
from stacks.settings.base import Based
from stacks.settings.layers import TENANTS_PART, PlatformLayer, TenantsFile
from stacks.settings.operators import OperatorSettings

_DEFINITIONS = "#/$defs/"
_PART = "Part"
"""What the name of a definition begins with that requires nothing."""
_KEEP = ("properties", "patternProperties")
"""Keywords whose value has names of its own and no keywords."""
_OTHERS = ("title", "discriminator")


def settings() -> dict[str, Any]:
    """Return the schema: of a file with `config`, or of a base that has settings alone."""
    definitions: dict[str, Any] = {}
    for model in (Settings, PlatformLayer, TenantsFile):
        schema = model.model_json_schema()
        definitions |= schema.pop("$defs") | {model.__name__: schema}
    for name in TENANTS_PART:
        del definitions[PlatformLayer.__name__]["properties"][name]
    forms = [definitions[model.__name__]["properties"] for model in (TenantsFile, PlatformLayer, Settings)]
    anything = definitions[Settings.__name__] | {
        "properties": {key: schema for form in forms for key, schema in form.items()}
    }
    parts = {f"{_PART}{name}": _written(schema, part=True) for name, schema in {**definitions, "": anything}.items()}
    whole = {name: _written(schema) for name, schema in definitions.items()}
    # What a subscription leaves out is as the operator's documentation has it.
    whole[OperatorSettings.__name__] = parts[f"{_PART}{OperatorSettings.__name__}"]
    return {
        "title": "settings",
        "description": "The file of a stack, Pulumi.<stack>.yaml, or a base (docs/reference/settings.md).",
        "if": {"required": ["config"]},
        "then": {"properties": {"config": {"properties": {SETTING: _chosen()}}}, "required": ["config"]},
        "else": _ref(_PART),
        "$defs": whole | parts,
    }


def _chosen() -> dict[str, Any]:
    """Return what decides by the keys of the settings which form they have."""
    return _if_any(
        Based.model_fields, _ref(_PART), _if_any(["platform"], _of(TenantsFile), _if_any(["layer"], _of(PlatformLayer)))
    )


def _if_any(keys: Iterable[str], then: dict[str, Any], otherwise: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "if": {"anyOf": [{"required": [key]} for key in keys]},
        "then": then,
        "else": otherwise or _of(Settings),
    }


def _of(model: type[BaseModel]) -> dict[str, Any]:
    return _ref(model.__name__)


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"{_DEFINITIONS}{name}"}


def _written(schema: Any, *, part: bool = False, names: bool = False) -> Any:
    """Return a schema without what only other tools read.

    As a `part` it requires nothing, and several forms of a value may fit what is written of it. `names` says that the
    keys are not keywords.
    """
    if isinstance(schema, list):
        return [_written(entry, part=part) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    written: dict[str, Any] = {}
    for key, value in schema.items():
        if not names and key == "default" and LEFT_OUT in schema:
            continue
        if part and not names and key == "$ref":
            written[key] = value.replace(_DEFINITIONS, f"{_DEFINITIONS}{_PART}")
        elif part and not names and key == "oneOf":
            written["anyOf"] = _written(value, part=part)
        elif names or key not in (*_OTHERS, *(["required"] if part else [])):
            written[key] = _written(value, part=part, names=not names and key in _KEEP)
    return written
