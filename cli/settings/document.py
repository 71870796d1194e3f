"""Settings as the text of a stack's file, with comments that say where each value is from."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from stacks.bases import SETTING, Whole
from stacks.origins import parts

_CONFIG = "config"
_WIDE = 1 << 16


class _Dumper(yaml.SafeDumper):
    """A dumper that begins every value in the line of its key, and writes texts of several lines as such."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    block = text[:1].strip() and all(line == line.rstrip() and line.isprintable() for line in text.split("\n"))
    style = None if text.isprintable() else "|" if block else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def write(found: Whole, file: Path, root: Path, *, origins: bool) -> str:
    """Return the text of `found`, which is from `file` and bases below `root`."""
    content = {_CONFIG: {SETTING: found.data}}
    text = yaml.dump(content, Dumper=_Dumper, sort_keys=False, width=_WIDE, allow_unicode=True)
    if not origins:
        return text

    @cache
    def composed(name: str) -> Any:
        return _composed((file if name == found.source else root / name).read_text())

    lines = text.split("\n")
    written = _composed(text)
    for place, leaf in (found.part or parts(found.data, found.source, (SETTING,))).leaves:
        name = str(file.relative_to(root)) if leaf.file == found.source else leaf.file
        there = (_CONFIG, *leaf.place) if leaf.place[:1] == (SETTING,) else leaf.place
        lines[_line(written, (_CONFIG, SETTING, *place))] += f"  # {name}:{_line(composed(leaf.file), there) + 1}"
    return "\n".join(lines)


def _composed(text: str) -> Any:
    return yaml.compose(text, Loader=yaml.CSafeLoader)


def _line(node: Any, place: Sequence[str | int]) -> int:
    """Return the line of a key or of an entry, from 0; for what YAML put there by another way, that of what has it."""
    line = 0
    for step in place:
        if isinstance(node, yaml.MappingNode):
            pair = next((each for each in node.value if each[0].value == str(step)), None)
            if pair is None:
                return line
            line, node = pair[0].start_mark.line, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node = node.value[step]
            line = node.start_mark.line
    return line
