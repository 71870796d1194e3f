"""`./hpc pulumi`: plain commands of the engine, on the stack's own cluster only."""

from typing import Any

import pytest

from cli import identity
from cli.commands import pulumi
from cli.errors import Problem


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        (["up", "--yes"], "require"),
        (["update"], "require"),
        (["import", "--file", "x.json"], "require"),
        (["-C", "up", "-v", "9", "refresh"], "look"),
        (["destroy", "--yes"], "look"),
        (["pre"], "look"),
        (["stack", "import", "--file", "x.json"], None),
        (["stack", "ls"], None),
        (["config", "set", "up", "x"], None),
        (["cancel"], None),
        ([], None),
    ],
)
def test_what_works_on_a_cluster_asks_which_one(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], asked: str | None
) -> None:
    """A `pulumi up` against another cluster that is let through, or a repair of the state that needs the cluster."""
    calls: list[str] = []
    monkeypatch.setattr(identity, "require", lambda *_: calls.append("require"))
    monkeypatch.setattr(identity, "look", lambda *_: calls.append("look"))
    monkeypatch.setattr("cli.session.cluster", lambda _: None)
    stack: Any = type("Stack", (), {"backend": None})()
    pulumi._checked(stack, stack, pulumi._name(arguments))
    assert calls == ([asked] if asked else [])


def test_without_an_answer_of_a_real_cluster_what_only_looks_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A preview that ends with the network; or one that goes on against a cluster of somebody else."""

    def silent(*_: Any) -> None:
        raise Problem("the API server does not answer")

    def foreign(*_: Any) -> None:
        raise identity.ForeignClusterError("not the cluster of stack dev")

    monkeypatch.setattr("cli.session.cluster", lambda _: None)
    stack: Any = type("Stack", (), {"backend": None, "simulated": False})()
    monkeypatch.setattr(identity, "require", silent)
    assert identity.look(stack, stack) is None
    assert "does not answer" in capsys.readouterr().err
    stack.simulated = True
    with pytest.raises(Problem):
        identity.look(stack, stack)
    stack.simulated = False
    monkeypatch.setattr(identity, "require", foreign)
    with pytest.raises(identity.ForeignClusterError):
        identity.look(stack, stack)
