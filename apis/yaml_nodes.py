"""Places in a YAML text: its nodes, by keys and list indices."""

from collections.abc import Sequence
from typing import Any

import yaml

from apis.yaml_text import LOADER


def composed(text: str) -> Any:
    """Return the root of a text of one document, None of an empty one; raise yaml.YAMLError."""
    return yaml.compose(text, Loader=LOADER)


def value(node: Any, *keys: str) -> Any:
    """Return the node that keys lead to, None where one of them is missing."""
    for key in keys:
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        node = next((found for name, found in pairs if name.value == key), None)
    return node


def line(node: Any, path: Sequence[str | int]) -> int:
    """Return the line, from 0, of the key or the entry that a path leads to; of what would hold it where it is missing.

    A part that YAML inserts from elsewhere (`<<`, aliases) counts as missing.
    """
    found = int(node.start_mark.line)
    for step in path:
        if isinstance(node, yaml.MappingNode):
            pair = next((each for each in node.value if each[0].value == str(step)), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            pair = (node.value[step], node.value[step])
        else:
            pair = None
        if pair is None:
            break
        found, node = int(pair[0].start_mark.line), pair[1]
    return found
