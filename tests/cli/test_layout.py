"""Where things are in cli/: a module or a folder for each command, and what they share."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from cli.app import COMMANDS
from cli.shared.paths import ROOT

CLI = ROOT / "cli"
_OTHERS = {"__init__", "__main__", "app", "shared"}


def _modules() -> dict[str, Path]:
    names = {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in CLI.rglob("*.py")}
    return {name.removesuffix(".__init__"): file for name, file in names.items()}


def _imports(file: Path, known: set[str]) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in known else node.module for name in names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_no_circle_of_imports() -> None:
    """Every module of the command line can be read after those that it imports."""
    modules = _modules()
    known = set(modules)
    graph = {name: {each for each in _imports(file, known) if each in known} for name, file in modules.items()}
    assert len(list(TopologicalSorter(graph).static_order())) == len(modules)


def test_a_module_or_a_folder_for_each_command() -> None:
    """A command's code is found by the command's name."""
    found = {
        path.stem for path in CLI.iterdir() if path.name != "__pycache__" and (path.is_dir() or path.suffix == ".py")
    }
    assert found - _OTHERS == {name.replace("-", "_") for name in COMMANDS}
