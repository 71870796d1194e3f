"""Settings as the text of a stack's file, with comments that say where each value is from."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from core.yaml import nodes as yaml_nodes
from stacks.loading.bases import SETTING, Whole
from stacks.settings.origins import parts

_CONFIG = "config"
_WIDE = 1 << 16


class _Dumper(yaml.SafeDumper):
    """A dumper that begins every value in the line of its key, and writes texts of several lines as such."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    block = text[:1].strip() and all(line == line.rstrip() and line.isprintable() for line in text.split("\n"))
    style = None if text.isprintable() else "|" if block else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def write(resolved: Whole, file: Path, root: Path, *, origins: bool) -> str:
    """Return the text of `resolved`, which is from `file` and bases below `root`."""
    content = {_CONFIG: {SETTING: resolved.data}}
    text = yaml.dump(content, Dumper=_Dumper, sort_keys=False, width=_WIDE, allow_unicode=True)
    if not origins:
        return text

    @cache
    def composed(name: str) -> Any:
        return yaml_nodes.composed((file if name == resolved.source else root / name).read_text())

    lines = text.split("\n")
    written = yaml_nodes.composed(text)
    for place, leaf in (resolved.part or parts(resolved.data, resolved.source, (SETTING,))).leaves:
        name = str(file.relative_to(root)) if leaf.file == resolved.source else leaf.file
        path = (_CONFIG, *leaf.place) if leaf.place[:1] == (SETTING,) else leaf.place
        source = yaml_nodes.line(composed(leaf.file), path) + 1
        lines[yaml_nodes.line(written, (_CONFIG, SETTING, *place))] += f"  # {name}:{source}"
    return "\n".join(lines)
