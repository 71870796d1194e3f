"""`./hpc pulumi`: plain commands of the engine, on the stack's own cluster only."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import finished
from toolkit.cli.pulumi import command, engine_options
from toolkit.cli.pulumi import command as pulumi
from toolkit.cli.shared import identity, session
from toolkit.cli.shared.backends.backend import Backend
from toolkit.cli.shared.environment import SETTINGS
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack, read
from toolkit.simulator.processes.supervisor import Processes


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        (["up", "--yes"], "require"),
        (["update"], "require"),
        (["import", "--file", "x.json"], "require"),
        (["-C", "up", "-v", "9", "refresh"], "look"),
        (["destroy", "--yes"], "look"),
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
    """Commands that work on a cluster check that it is the stack's; those that read do so if it answers.

    What changes a simulated one finds the stack in its backend, even as the first command.
    """
    calls: list[str] = []
    monkeypatch.setattr(identity, "require", lambda *_: calls.append("require"))
    monkeypatch.setattr(identity, "require_unless_unreachable", lambda *_: calls.append("look"))
    monkeypatch.setattr("toolkit.cli.shared.session.cluster", lambda _: None)
    monkeypatch.setattr("toolkit.cli.shared.session.prepare", lambda *_: calls.append("prepare"))
    stack: Any = type("Stack", (), {"backend": None, "simulated": True})()
    pulumi._checked(stack, stack, pulumi._name(arguments))
    assert calls == {"require": ["require", "prepare"], "look": ["look"], None: []}[asked]


def test_without_an_answer_of_a_real_cluster_what_only_looks_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command that only reads goes on without the cluster's answer, and is refused on a cluster of another stack."""

    def silent(*_: Any) -> None:
        raise Problem("the API server does not answer")

    def foreign(*_: Any) -> None:
        raise identity.ForeignClusterError("not the cluster of stack dev")

    monkeypatch.setattr("toolkit.cli.shared.session.cluster", lambda _: None)
    stack: Any = type("Stack", (), {"backend": None, "simulated": False})()
    monkeypatch.setattr(identity, "require", silent)
    assert identity.require_unless_unreachable(stack, stack) is None
    assert "does not answer" in capsys.readouterr().err
    stack.simulated = True
    with pytest.raises(Problem):
        identity.require_unless_unreachable(stack, stack)
    stack.simulated = False
    monkeypatch.setattr(identity, "require", foreign)
    with pytest.raises(identity.ForeignClusterError):
        identity.require_unless_unreachable(stack, stack)


@pytest.mark.parametrize(
    "words",
    [
        ["up", "-s", "prod"],
        ["up", "--stack", "prod"],
        ["up", "--stack=prod"],
        ["up", "-sprod"],
        ["up", "-ys=prod"],
        ["up", "-yfs", "prod"],
        ["up", "-s", "dev", "-s", "prod"],
        ["up", "-s", "somebody/hpc/dev"],
        ["up", "--config-file", "Pulumi.prod.yaml"],
        ["up", "--config-file=Pulumi.prod.yaml"],
        ["-C", "/other", "up"],
        ["up", "--cwd=/other"],
        ["-v9", "-C/other", "up"],
    ],
)
def test_what_leads_the_engine_elsewhere_is_refused(words: list[str], tmp_path: Path) -> None:
    """Options that lead the engine to another stack or project are refused."""
    (tmp_path / "Pulumi.yaml").write_text("name: other\n")
    wanted = read("dev")
    with pytest.raises(Problem):
        engine_options.require_same(
            wanted, {SETTINGS: ""}, [word.replace("/other", str(tmp_path)) for word in words], ROOT
        )
    with pytest.raises(Problem, match="would run the project in"):
        engine_options.require_same(wanted, {SETTINGS: ""}, ["up"], tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        ["up", "-s", "dev", "--stack=organization/hpc/dev", "--yes"],
        ["up", "--config-file", "Pulumi.dev.yaml"],
        ["-C", "docs", "up", "--config-file", "../Pulumi.dev.yaml"],
        ["up", "-m", "speed", "-mspeed", "-p4", "-c", "hpc:x=1"],
        ["up", "--", "-s", "prod"],
        ["state", "move", "--source", "dev", "--dest", "prod"],
        [],
    ],
)
def test_what_means_the_same_stack_passes(words: list[str]) -> None:
    """Options that name the same stack pass, and a message is not taken for an option."""
    engine_options.require_same(read("dev"), {SETTINGS: ""}, words, ROOT)


def test_the_copy_is_the_settings_of_a_cluster_elsewhere(tmp_path: Path) -> None:
    """--config-file is refused where the settings are a copy for another cluster."""
    environment = {SETTINGS: str(tmp_path / "Pulumi.dev.yaml")}
    with pytest.raises(Problem, match="Leave --config-file out"):
        engine_options.require_same(read("dev"), environment, ["up", "--config-file", "Pulumi.dev.yaml"], ROOT)


def test_one_stack_at_a_time() -> None:
    """Two stacks in one command are refused, with both names."""
    assert pulumi._single_name([]) == "dev"
    assert pulumi._single_name(["prod", "prod"]) == "prod"
    with pytest.raises(Problem, match="names dev and prod"):
        pulumi._single_name(["dev", "prod"])


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
