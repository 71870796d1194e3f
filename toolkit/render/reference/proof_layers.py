"""The layers of a file of tests, by its markers: what proves a row, and how near that is to a cluster."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

LAYERS = ("unit", "engine", "cluster", "browser")
"""As pyproject.toml declares them; a test without a marker is a unit test."""


def layers(file: Path) -> tuple[str, ...]:
    """Return the layers of a file's tests, in the order of LAYERS; none for a file without tests."""
    tree = ast.parse(file.read_text())
    whole = {layer for node in tree.body if _is_pytestmark(node) for layer in _marked([node])}
    found = {layer for test in _tests(tree) for layer in whole | {*_marked(test.decorator_list)} or {"unit"}}
    return tuple(layer for layer in LAYERS if layer in found)


def _is_pytestmark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets
    )


def _tests(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node


def _marked(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in (one for root in nodes for one in ast.walk(root)):
        if isinstance(node, ast.Attribute) and node.attr in LAYERS:
            yield node.attr
