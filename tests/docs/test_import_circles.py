"""Imports of the product form no circle."""

import ast
from collections.abc import Collection, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support.recorded import ROOT

ROOMS = ("core", "components", "stacks", "policies", "toolkit")


def modules() -> dict[str, Path]:
    """Return the files of the rooms by module, a package under its own name."""
    files = (file for room in ROOMS for file in (ROOT / room).rglob("*.py"))
    return {".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file for file in files}


def imported(file: Path, product: Collection[str] = ()) -> Iterator[str]:
    """Yield what a file imports, also in functions and for type checkers alone; of a package only its modules."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from names
            if not {*names} <= {*product}:
                yield str(node.module)


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of one circle, in order; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_imports_form_no_circle() -> None:
    """Every module can be read after those that it imports."""
    known = modules()
    assert circle({name: {*imported(file, known)} & known.keys() - {name} for name, file in known.items()}) == []


@pytest.mark.parametrize("room", [*ROOMS, "toolkit.simulator"])
def test_folders_of_a_room_form_no_circle(room: str) -> None:
    """The folders and modules directly in a room can be read one after the other."""
    known = modules()
    folders: dict[str, set[str]] = {}
    for name, file in known.items():
        if name.startswith(f"{room}."):
            others = {
                _folder(other, room)
                for other in {*imported(file, known)} & known.keys()
                if other.startswith(f"{room}.")
            }
            folders.setdefault(_folder(name, room), set()).update(others - {_folder(name, room)})
    assert circle(folders) == []


def _folder(module: str, room: str) -> str:
    return ".".join(module.split(".")[: len(room.split(".")) + 1])


@pytest.mark.parametrize("graph", [{"a": {"b"}, "b": {"a"}}, {"a": {"b"}, "b": {"c"}, "c": {"a"}}])
def test_a_circle_is_found(graph: dict[str, set[str]]) -> None:
    """A circle of any length is reported with its modules."""
    assert {*circle(graph)} == {*graph}


def test_every_rule_between_settings_is_used() -> None:
    """Every module of `stacks/checks/` is imported: a rule that is not called would check nothing."""
    known = modules()
    used = {name for module, file in known.items() for name in imported(file) if name != module}
    assert {name for name in known if name.startswith("stacks.checks.")} <= used
