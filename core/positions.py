"""Lines and columns of fields in YAML files, as compilers print them; files are read again only for a message."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from core.yaml import nodes as yaml_nodes

Place = Sequence[str | int]
"""Keys of maps and positions in lists, from the outside in."""


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
    position = yaml_nodes.position(node, place, of_key=of_key) if node else None
    return f"{name}:{position[0]}:{position[1]}" if position else name


@lru_cache(maxsize=4)
def _composed(text: str) -> Any:
    return yaml_nodes.composed(text)
