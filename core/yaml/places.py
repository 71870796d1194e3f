"""Places in a YAML text, by keys and list indices: its nodes, and lines and columns as compilers print them."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from core.yaml.text import LOADER

Place = Sequence[str | int]
"""Keys of maps and positions in lists, from the outside in."""


def composed(text: str) -> Any:
    """Return the root of a text of one document, None of an empty one; raise yaml.YAMLError."""
    return yaml.compose(text, Loader=LOADER)


def value(node: Any, *keys: str) -> Any:
    """Return the node that keys lead to, None where one of them is missing."""
    for key in keys:
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        node = next((child for key_node, child in pairs if key_node.value == key), None)
    return node


def line(node: Any, path: Sequence[str | int]) -> int:
    """Return the line, from 0, of the key or the entry that a path leads to; of what would hold it where it is missing.

    A part that YAML inserts from elsewhere (`<<`, aliases) counts as missing.
    """
    *_, (key, _) = _marks(node, path)
    return int(key.line)


def position(node: Any, path: Sequence[str | int], *, of_key: bool = False) -> tuple[int, int] | None:
    """Return line and column, from 1, of the value that a path leads to; of what would hold it where it is missing.

    A value that begins below its key has the place of the key, which `of_key` asks for anywhere. None where the text
    has nothing of the path.
    """
    marks = [*_marks(node, path)]
    key, value = marks[-1]
    mark = key if of_key or value.line != key.line or len(marks) <= len(path) else value
    return (mark.line + 1, mark.column + 1) if len(marks) > 1 else None


def _marks(node: Any, path: Sequence[str | int]) -> Iterator[tuple[Any, Any]]:
    """Yield where key and value begin: of the root, and of each step of a path as far as the text has it."""
    yield node.start_mark, node.start_mark
    for step in path:
        if isinstance(node, yaml.MappingNode):
            pair = next((pair for pair in node.value if pair[0].value == str(step)), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            pair = (node.value[step], node.value[step])
        else:
            pair = None
        if pair is None:
            return
        node = pair[1]
        yield pair[0].start_mark, node.start_mark


def path(place: Place) -> str:
    """Return a place as messages name it: tenants[2].gpu_quota."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).removeprefix(".")


def located(name: str, file: Path, place: Place, *, of_key: bool = False) -> str:
    """Return NAME:LINE:COLUMN of the value at a place of a file, or of its key.

    The name alone where the file cannot be read, or has nothing of the place.
    """
    try:
        node = _composed(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
        return name
    at = position(node, place, of_key=of_key) if node else None
    return f"{name}:{at[0]}:{at[1]}" if at else name


_composed = lru_cache(maxsize=4)(composed)
