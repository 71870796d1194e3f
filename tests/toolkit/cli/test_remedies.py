"""Commands in messages, read from the sources: there are more messages than tests can provoke."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.support.recorded import ROOT

_COMMAND = re.compile(r"`\./hpc ((?:state |ci )?[a-z-]+)([^`]*)`")
_OF_A_STACK = {
    *("up", "pulumi", "diff", "drift", "destroy", "status", "verify", "nodes", "suite", "report", "render", "settings"),
    *("state init", "state repair", "state restore", "state rotate", "state accept-cluster", "state list"),
    *("state adopt", "state split", "ci kubeconfig", "ci policy-config"),
}
_NAMED = ("--stack", "--backend", "options}", "_named(")


def _spoken(tree: ast.AST) -> Iterator[str]:
    """Yield all strings but docstrings and what `--help` and the settings' reference describe."""
    described = {
        id(part)
        for node in ast.walk(tree)
        for keyword in getattr(node, "keywords", ())
        if keyword.arg in ("help", "description")
        for part in ast.walk(keyword.value)
    }
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in described | inside | alone:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(map(_said, node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _said(part: ast.expr) -> str:
    if isinstance(part, ast.FormattedValue):
        return f"{{{ast.unparse(part.value)}}}"
    return str(part.value) if isinstance(part, ast.Constant) else ""


@pytest.mark.parametrize("folder", ["toolkit/cli", "toolkit/engine", "toolkit/simulator", "stacks"])
def test_advice_names_the_stack(folder: str) -> None:
    """A command in a message names its stack, so that it can be copied as it is."""
    found = [
        f"{path.relative_to(ROOT)}: {command[0]}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "`./hpc " in (source := path.read_text())
        for text in _spoken(ast.parse(source))
        for command in _COMMAND.finditer(text)
        if command[1] in _OF_A_STACK
        and command[0] != "`./hpc pulumi`"
        and not any(name in command[2] for name in _NAMED)
    ]
    assert not found, "\n".join(found)
