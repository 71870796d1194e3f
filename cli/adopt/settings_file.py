"""The list `adopted` in the file of a stack's settings, written without touching anything else in it."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

from apis import yaml_nodes, yaml_text
from cli.shared.errors import Problem
from simulator.files import write_atomically
from stacks.settings import KEY, PROJECT

FIELD = "adopted"
_PLACE = ("config", f"{PROJECT}:{KEY}")


def lines(adopted: Collection[str], indent: str = "    ") -> str:
    """Return the lines for the settings, under the key of the platform."""
    return "".join([f"{indent}{FIELD}:\n", *(f"{indent}  - {each}\n" for each in sorted(adopted))])


def add(file: Path, objects: Collection[str], known: Collection[str] = ()) -> bool:
    """Add objects to the list; return whether any was missing. Comments, order and everything else stay as they are.

    `known` is the list of the settings: the one in the file takes the place of that of a base, so it gets all of it.
    Raises Problem, with the lines to write manually, for a file in which that cannot be done safely.
    """
    text = file.read_text()
    before = yaml_text.read(text)
    there = before["config"][_PLACE[1]].get(FIELD) or []
    if {*objects} <= {*there, *known}:
        return False
    wanted = sorted({*there, *known, *objects})
    changed = _changed(text, wanted)
    expected = {**before, "config": {**before["config"], _PLACE[1]: {**before["config"][_PLACE[1]], FIELD: wanted}}}
    if changed is None or _read(changed) != expected:
        raise Problem(
            f"{file.name} is written in a way that this cannot add to",
            f"Write these lines under {_PLACE[1]} yourself, and run the same command again:\n{lines(wanted)}",
        )
    write_atomically(file, changed)
    return True


def _changed(text: str, wanted: Collection[str]) -> str | None:
    """Return the text with the list in the place of the one that is there, or at the end of the settings."""
    node = yaml_nodes.value(yaml_nodes.composed(text), *_PLACE)
    if not isinstance(node, yaml.MappingNode) or node.flow_style or not node.value:
        return None
    indent = " " * node.value[0][0].start_mark.column
    rows = text.splitlines(keepends=True)
    for key, value in node.value:
        if key.value == FIELD:
            begin, end = key.start_mark.line, _last(value) + 1
            return "".join([*rows[:begin], lines(wanted, indent), *rows[end:]])
    end = _last(node) + 1
    if end == len(rows) and not rows[-1].endswith("\n"):
        rows[-1] += "\n"
    return "".join([*rows[:end], lines(wanted, indent), *rows[end:]])


def _last(node: Any) -> int:
    """Return the last line that a node has something on: the end of a block is where the next thing begins."""
    children = [child for pair in node.value for child in pair] if isinstance(node, yaml.MappingNode) else []
    children = list(node.value) if isinstance(node, yaml.SequenceNode) else children
    if children and not node.flow_style:
        return max(_last(child) for child in children)
    mark = node.end_mark
    return int(mark.line if mark.column else mark.line - 1)


def _read(text: str) -> Any:
    try:
        return yaml_text.read(text)
    except yaml.YAMLError:
        return None
