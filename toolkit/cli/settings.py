"""`./hpc settings`: the settings of a stack as if they were in one file."""

from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from core.yaml import places
from stacks.loading import settings
from stacks.loading.bases import SETTING, Whole
from stacks.settings.origins import parts
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, StackOption
from toolkit.cli.shared.paths import ROOT

OriginOption = Annotated[
    bool, typer.Option("--origin", help="Show in a comment where each value is from, as file:line.")
]
_CONFIG = "config"
_WIDE = 1 << 16


def command(stack: StackOption = DEFAULT_STACK, *, origin: OriginOption = False) -> None:
    """Print a stack's settings with those of its bases.

    The output is YAML, in the format of a stack's file. Nothing is checked; for tenants, the platform's settings are
    not included.
    """
    file, resolved = settings.file(stack, ROOT), settings.whole(stack, ROOT)
    if resolved.data is None:
        raise Problem(f"{file.name} has no {SETTING}", "Write the settings there; Pulumi.dev.yaml is an example.")
    print(written(resolved, file, ROOT, origins=origin), end="")  # noqa: T201 - for a file


class _Dumper(yaml.SafeDumper):
    """A dumper that begins every value in the line of its key, and writes texts of several lines as such."""


def _represented(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    block = text[:1].strip() and all(line == line.rstrip() and line.isprintable() for line in text.split("\n"))
    style = None if text.isprintable() else "|" if block else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represented)


def written(resolved: Whole, file: Path, root: Path, *, origins: bool) -> str:
    """Return the text of `resolved`, which is from `file` and bases below `root`."""
    content = {_CONFIG: {SETTING: resolved.data}}
    text = yaml.dump(content, Dumper=_Dumper, sort_keys=False, width=_WIDE, allow_unicode=True)
    if not origins:
        return text

    @cache
    def composed(name: str) -> Any:
        return places.composed((file if name == resolved.source else root / name).read_text())

    lines = text.split("\n")
    written = places.composed(text)
    for place, leaf in (resolved.part or parts(resolved.data, resolved.source, (SETTING,))).leaves:
        name = str(file.relative_to(root)) if leaf.file == resolved.source else leaf.file
        path = (_CONFIG, *leaf.place) if leaf.place[:1] == (SETTING,) else leaf.place
        source = places.line(composed(leaf.file), path) + 1
        lines[places.line(written, (_CONFIG, SETTING, *place))] += f"  # {name}:{source}"
    return "\n".join(lines)
