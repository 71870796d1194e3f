"""The rooms of the house: who may import whom."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.support.recorded import ROOT

ALLOWED = {
    "apis": set(),
    "hardware": set(),
    "components": {"hardware", "apis"},
    "stacks": {"components", "hardware", "apis"},
    "rendering": {"stacks", "components", "evidence", "hardware", "apis"},
    "policies": {"hardware", "apis"},
    "simulator": {"policies", "hardware", "apis"},
    "evidence": {"hardware", "apis"},
    "review": {"policies", "hardware", "apis"},
}
ROOMS = {*ALLOWED, "cli", "tests", "bench"}


def imported(room: str, others: set[str]) -> Iterator[tuple[str, str]]:
    """Yield each file of a room with those of the other rooms that it imports."""
    # Only what names one is parsed: that of every file takes half a second.
    named = re.compile(rf"\b(?:from|import)\b.*\b(?:{'|'.join(sorted(others))})\b")
    for file in sorted((ROOT / room).rglob("*.py")):
        text = file.read_text()
        for node in ast.walk(ast.parse(text)) if named.search(text) else ():
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                other = name.split(".")[0]
                if other in others:
                    yield f"{file.relative_to(ROOT)}", other


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_imports_go_one_way(room: str) -> None:
    """Prevents a cluster that knows the program which it is to prove, and settings that reach into the command line."""
    wrong = [f"{file} imports {other}" for file, other in imported(room, ROOMS - ALLOWED[room] - {room})]
    assert wrong == []


def test_the_rooms_are_seen() -> None:
    """Prevents a check that looks into empty folders."""
    assert any(imported("stacks", {"components"}))


def test_components_load_no_api_group_to_be_read() -> None:
    """Prevents a command that loads the Kubernetes SDK, half a second, to read settings: naming a group loads it."""
    bare = re.compile(r"(?:->|:) (?:list\[)?k8s\.\w+\.")
    files = sorted((ROOT / "components").glob("*.py"))
    assert [file.name for file in files if bare.search(file.read_text())] == [], "quote these annotations"
