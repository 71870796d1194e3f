"""Machines that a stack brings along, in files of its own."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from core import project
from core.hardware.profiles import PROFILES, Profile, missing, read_machine
from stacks.settings.origins import Place

FIELD = "machines"


def read(data: Any, root: Path) -> tuple[dict[str, Profile], list[tuple[Place, str]]]:
    """Return the machines that `data` names by name, and what is wrong at which place; files are below `root`."""
    profiles: dict[str, Profile] = {}
    wrong: list[tuple[Place, str]] = []
    for index, path in enumerate(_paths(data)):
        name = Path(path).stem
        try:
            if name in PROFILES or missing(name) or name in profiles:
                owner = "this list" if name in profiles else "core/hardware/machines"
                raise ValueError(f"{path}: {name} is a machine of {owner}, too; give the file another name")
            profiles[name] = read_machine(_file(path, root))
        except ValueError as error:
            wrong.append(((FIELD, index), str(error)))
    return profiles, wrong


def _file(path: str, root: Path) -> Path:
    """Return a machine file of the project, else of the product in it: examples bring some along."""
    return next((file for file in (root / path, project.product_in(root) / path) if file.is_file()), root / path)


def _paths(data: Any) -> Iterator[str]:
    """Yield the paths, as far as they are some: what else is wrong is reported with the other fields."""
    named = data.get(FIELD) if isinstance(data, Mapping) else None
    yield from (path for path in named if isinstance(path, str)) if isinstance(named, list | tuple) else ()
