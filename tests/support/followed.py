"""A page that is followed: its `sh` blocks are run and its `yaml FILE` blocks put into settings, in their order."""

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_BLOCK = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One block of a page: what it is, below which heading, and its text."""

    info: str
    heading: str
    text: str


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page."""
    text = page.read_text()
    return [
        Block(
            found["info"].strip(),
            re.findall(r"^#+ (.*)$", text[: found.start()], re.MULTILINE)[-1],
            textwrap.dedent(found["text"]),
        )
        for found in _BLOCK.finditer(text)
    ]


def merged(settings: Any, change: Any) -> Any:
    """Return settings with a change put in: maps into maps, entries after entries, all else in place."""
    if isinstance(settings, Mapping) and isinstance(change, Mapping):
        return {**settings, **{key: merged(settings.get(key), value) for key, value in change.items()}}
    if isinstance(settings, list) and isinstance(change, list):
        return [*settings, *change]
    return change


def change(file: Path, block: str) -> None:
    """Make the change of a block in a stack's settings file."""
    content = yaml.safe_load(file.read_text())
    config = content["config"]
    config["hpc:platform"] = merged(config["hpc:platform"], yaml.safe_load(block))
    file.write_text(yaml.safe_dump(content, sort_keys=False))
