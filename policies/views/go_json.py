"""JSON as programs in Go read it: encoding/json matches the names of fields without regard to case.

The last of several matching keys counts where a struct is filled in; where a program also reads the same text into a
map, the exact key does. A rule that looks for something wrong therefore reads every value (`every`).
Source: pkg.go.dev/encoding/json, golang/go issue 14750.
"""

import json
from collections.abc import Iterator
from typing import Any

LARGEST = 1 << 20
"""Characters of a text; the API server stores no more in an object."""


def parse_folded(text: str) -> Any:
    """Return what a struct gets: every key in lower case, the last of several alike; raise ValueError for no JSON."""
    return _read(text, lambda pairs: {key.casefold(): value for key, value in pairs})


def parse_every_value(text: str) -> Any:
    """Return JSON with a list of all values for each key, which is in lower case; raise ValueError for no JSON."""
    return _read(text, _by_folded_key)


def values(tree: Any, key: str) -> Iterator[Any]:
    """Yield all values of a key in an object that `every` has read."""
    yield from tree.get(key, ()) if isinstance(tree, dict) else ()


def _read(text: str, hook: Any) -> Any:
    if len(text) > LARGEST:
        raise ValueError("too long")
    try:
        return json.loads(text, object_pairs_hook=hook)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _by_folded_key(pairs: list[tuple[str, Any]]) -> dict[str, list[Any]]:
    by_key: dict[str, list[Any]] = {}
    for key, value in pairs:
        by_key.setdefault(key.casefold(), []).append(value)
    return by_key
