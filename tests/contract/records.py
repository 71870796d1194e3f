"""The text of a record: JSON in which what fits into a line has one, so that a diff shows objects and no brackets."""

import json
from typing import Any

_COLUMNS = 120


def json_text(value: Any, start: int = 0, indent: int = 0) -> str:
    """Return a value as JSON with sorted keys: `start` is the column where it begins, `indent` its last line's."""
    line = _json(value)
    if not value or not isinstance(value, dict | list) or start + len(line) <= _COLUMNS:
        return line
    inner = indent + 1
    if isinstance(value, dict):
        items = [f"{_json(key)}: {json_text(value[key], inner + len(_json(key)) + 2, inner)}" for key in sorted(value)]
        first, last = "{}"
    else:
        items = [json_text(item, inner, inner) for item in value]
        first, last = "[]"
    separator = "\n" + " " * inner
    return first + separator + f",{separator}".join(items) + "\n" + " " * indent + last


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
