"""docs/reference/settings.md, every setting of a stack, and docs/schemas: JSON Schemas of the files that users write.

By the schemas editors complete and check. Without a base all that a stack needs is in its file. With one, and in a
base, any part of the settings may be: nothing is required there, and what is written is still checked.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from core.datasets.card import Card
from core.hardware.profiles import Profile
from core.hardware.profiles.catalogue import BASE
from core.model import LEFT_OUT
from stacks.loading.bases import SETTING
from stacks.loading.settings import KEY, PROJECT, Settings
from stacks.settings.layers import TENANTS_PART, PlatformLayer, TenantsFile
from stacks.settings.operators import OperatorSettings
from stacks.settings.stack import Based
from toolkit.render.reference import markdown, tables

FILE = tables.ROOT / "docs" / "reference" / "settings.md"
_DIVIDED = "../guide/several-stacks.md#separate-stacks-for-platform-and-tenants"
_DEFINITIONS = "#/$defs/"
_PART = "Part"
"""What the name of a definition begins with that requires nothing."""
_KEEP = ("properties", "patternProperties")
"""Keywords whose value has names of its own and no keywords."""
SCHEMAS = tables.ROOT / "docs" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def pages() -> dict[Path, str]:
    """Return the texts of the page and of each schema, by file."""
    schemas = {"card": card(), "machine": machine(), "settings": {"$schema": DIALECT, **settings_schema()}}
    written = {SCHEMAS / f"{name}.json": json.dumps(schema, indent=2) + "\n" for name, schema in schemas.items()}
    return {FILE: _page(), **written}


def _page() -> str:
    of_tenants = ", ".join(f"`{name}`" for name in TENANTS_PART)
    return f"""# Settings

A stack is one object, `{PROJECT}:{KEY}`, under `config` in `Pulumi.<stack>.yaml`. Unknown fields are errors, and all
errors of a file are reported at once. Paths below begin at that object; `[]` stands for each entry of a list, `.*` for
each of a map. Where a field takes one of several forms, each form has a section, which begins with the field and the
value that choose it. Fields that several sections share are described once; the others link to them. This page is
written from the code by `make docs`.

{markdown.flowing(Settings.__doc__ or "")}

{tables.document(Settings, level=2)}

## In layers

{markdown.flowing(f"{PlatformLayer.__doc__} {TenantsFile.__doc__} [How to divide one]({_DIVIDED}).")}

The platform's file has `layer: platform`, and none of {of_tenants}. A file of tenants has those, `adopted`,
as `cluster` the `kubeconfig` and `context` of [ClusterSettings](#clustersettings) or nothing, and:

{tables.fields(TenantsFile, tables.link, without=Settings)}
"""


def settings_schema() -> dict[str, Any]:
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
        elif names or key not in ("title", "discriminator", *(["required"] if part else [])):
            written[key] = _written(value, part=part, names=not names and key in _KEEP)
    return written


def machine() -> dict[str, Any]:
    """Return the schema of a machine file: a profile without its name, which is the file's; with a base, a part."""
    schema: dict[str, Any] = Profile.model_json_schema()
    fields = schema["properties"]
    del fields["name"]
    fields["gpu"] = {
        "anyOf": [{"type": "string"}, {"$ref": "#/$defs/Gpu"}],
        "description": fields["gpu"]["description"],
    }
    fields[BASE] = {"type": "string", "description": "machine that has what this file does not give"}
    required = [name for name in schema.pop("required") if name != "name"]
    return schema | {
        "$schema": DIALECT,
        "title": "machine",
        "anyOf": [{"required": [BASE, "source"]}, {"required": required}],
    }


def card() -> dict[str, Any]:
    """Return the schema of a data set's card without its name, which is the file's."""
    schema: dict[str, Any] = Card.model_json_schema()
    del schema["properties"]["name"]
    required = [name for name in schema["required"] if name != "name"]
    return schema | {"$schema": DIALECT, "title": "card", "required": required}
