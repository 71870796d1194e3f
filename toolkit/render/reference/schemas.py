"""docs/schemas: JSON Schemas of the files that users write, by which editors complete and check them."""

import json
from pathlib import Path
from typing import Any

from core.datasets.card import Card
from core.hardware.profiles import Profile
from core.hardware.profiles.catalogue import BASE
from toolkit.render.reference import tables
from toolkit.render.reference.settings_schema import settings

FOLDER = tables.ROOT / "docs" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


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


def pages() -> dict[Path, str]:
    """Return the text of each schema, by its file."""
    made = {"card": card(), "machine": machine(), "settings": {"$schema": DIALECT, **settings()}}
    return {FOLDER / f"{name}.json": json.dumps(schema, indent=2) + "\n" for name, schema in made.items()}
