"""The difference of two plain trees as a JSON Patch (RFC 6902)."""

from collections.abc import Iterator, Mapping
from typing import Any

Operation = dict[str, Any]


def patch(before: Any, after: Any, path: str = "") -> Iterator[Operation]:
    """Yield the operations that make `after` of `before`; lists of different lengths are replaced as a whole."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in before.keys() - after.keys():
            yield {"op": "remove", "path": f"{path}/{_escaped(key)}"}
        for key, value in after.items():
            below = f"{path}/{_escaped(key)}"
            if key not in before:
                yield {"op": "add", "path": below, "value": value}
            else:
                yield from patch(before[key], value, below)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from patch(old, new, f"{path}/{index}")
    elif before != after:
        yield {"op": "replace", "path": path, "value": after}


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
