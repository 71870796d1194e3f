"""Places in a YAML text: its nodes, by keys and list indices."""

from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from core.yaml.text import LOADER


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
