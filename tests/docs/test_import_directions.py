"""The rooms of the house: who may import whom."""

import ast
from collections.abc import Iterator

import pytest

from tests.support.recorded import ROOT

ALLOWED = {
    "apis": set(),
    "hardware": set(),
    "components": {"hardware", "apis"},
    "stacks": {"components", "hardware", "apis"},
    "rendering": {"stacks", "components", "hardware", "apis"},
    "policies": {"hardware", "apis"},
    "simulator": {"policies", "hardware", "apis"},
}
ROOMS = {*ALLOWED, "cli", "tests", "bench"}


def imported(room: str) -> Iterator[tuple[str, str]]:
    """Yield each file of a room with the other rooms that it imports."""
    for file in sorted((ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                other = name.split(".")[0]
                if other in ROOMS and other != room:
                    yield f"{file.relative_to(ROOT)}", other


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_imports_go_one_way(room: str) -> None:
    """Prevents a cluster that knows the program which it is to prove, and settings that reach into the command line."""
    wrong = [f"{file} imports {other}" for file, other in imported(room) if other not in ALLOWED[room]]
    assert wrong == []


def test_the_rooms_are_seen() -> None:
    """Prevents a check that looks into empty folders."""
    assert any(other == "components" for _, other in imported("stacks"))
