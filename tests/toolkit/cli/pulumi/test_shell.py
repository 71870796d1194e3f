"""`./hpc pulumi --print-env`: the environment for plain `pulumi`."""

from pathlib import Path

import pytest

from tests.support.commands import finished
from toolkit.cli.pulumi import command
from toolkit.cli.shared import session
from toolkit.cli.shared.backends.backend import Backend
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.simulator.processes import Processes


@pytest.mark.parametrize(("runs", "known", "prepared"), [(True, False, 1), (True, True, 0), (False, False, 0)])
def test_the_first_plain_pulumi_finds_the_stack(
    dev: Stack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, runs: bool, known: bool, prepared: int
) -> None:
    """On a simulated cluster that runs, a stack without a state gets one; of one that is stopped nothing is changed."""
    calls: list[str] = []
    monkeypatch.setattr("toolkit.engine.tools.find", lambda *_, **__: tmp_path / "pulumi")
    monkeypatch.setattr(Processes, "running", lambda _: {"etcd": None} if runs else {})
    monkeypatch.setattr(Backend, "has", lambda *_: known)
    monkeypatch.setattr(session, "engine", lambda _: None)
    monkeypatch.setattr(session, "prepare", lambda stack, _: calls.append(stack.name))
    status, output = finished(command.command, "--print-env", "--name", dev.cluster_name)
    assert (status, calls) == (0, ["dev"] * prepared)
    assert "export PULUMI_STACK=dev" in output


def test_the_environment_is_printed_in_place_of_a_command() -> None:
    """What follows --print-env would not run, and is refused."""
    with pytest.raises(Problem, match=r"--print-env runs no command\nOmit it, or omit stack ls"):
        finished(command.command, "--print-env", "stack", "ls")
