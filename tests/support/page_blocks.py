"""A page that is followed: its `sh` blocks are run and its `yaml FILE` blocks put into settings, in their order."""

import os
import re
import subprocess
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
            match["info"].strip(),
            re.findall(r"^#+ (.*)$", text[: match.start()], re.MULTILINE)[-1],
            textwrap.dedent(match["text"]),
        )
        for match in _BLOCK.finditer(text)
    ]


def merged(settings: Any, change: Any) -> Any:
    """Return settings with a change put in: maps into maps, entries after entries, all else in place.

    A map of another `kind` takes the place of the former.
    """
    if isinstance(settings, Mapping) and isinstance(change, Mapping):
        if settings.get("kind") not in (None, change.get("kind", settings.get("kind"))):
            return change
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


def walked(block: str, root: Path, environment: Mapping[str, str] | None = None) -> str:
    """Run one `sh` block of a page in a checkout, which must end well, and return what it printed.

    Without an environment it has that of the test, but for what leads to other stacks and clusters.
    """
    outside = {key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "HPC_SIM"))}
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", block],
        cwd=root,
        env=outside if environment is None else environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, f"{block}\nended with {done.returncode}:\n{done.stdout}"
    assert "Traceback (most recent call last)" not in done.stdout, done.stdout
    return done.stdout
