"""Where jobs fit, as a preview shows it."""

import io
from pathlib import Path

import pytest

from tests.support.commands import finished
from tests.support.recorded import OURS
from toolkit.cli.pulumi import command as pulumi
from toolkit.cli.shared import console, placements
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.stack import read


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Give what is printed."""
    written = io.StringIO()
    monkeypatch.setattr(console, "console", console.new_console(file=written, width=140))
    return written


def test_every_stage_has_its_table(printed: io.StringIO) -> None:
    """An update prints a table of the GPUs that each stage takes."""
    placements.show(read("dev").settings)
    lines = [" ".join(line.split()) for line in printed.getvalue().splitlines()]
    assert [line for line in lines if line.startswith("Placement")] == [
        "Placement, stage rdma",
        "Placement, stage nodes",
        "Placement, stage nccl",
        "Placement, stage training",
    ]
    assert "wave job layout GPUs fits on" in lines
    assert "2 adas/nccl-test-02x08 02x08 16 dgx01: 1, dgx02: 1" in lines
    assert "1 adas/mofed-test-job dgx01: 1, dgx02: 1" in lines


@pytest.mark.parametrize("stack", OURS)
def test_every_job_of_every_stack_is_reported(stack: str, printed: io.StringIO) -> None:
    """Every job of every stack has a row in the table."""
    settings = read(stack).settings
    placements.show(settings)
    assert len([line for line in printed.getvalue().splitlines() if line[:1].isdigit()]) == sum(
        len(stage.workloads) for stage in settings.stages
    )


@pytest.mark.usefixtures("sim_home")
def test_a_preview_for_a_program_is_the_engines_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`./hpc pulumi preview --json` prints the engine's JSON and nothing else."""
    monkeypatch.setattr("toolkit.cli.shared.session.prepare", lambda *_: None)
    monkeypatch.setattr("toolkit.cli.shared.identity.require_unless_unreachable", lambda *_: None)
    monkeypatch.setattr("toolkit.engine.tools.find", lambda _name, **_: tmp_path / "pulumi")
    monkeypatch.setattr(Engine, "run_interactively", lambda *_: 0)
    printed: list[object] = []
    monkeypatch.setattr("toolkit.cli.shared.placements.show", printed.append)
    monkeypatch.setattr("toolkit.cli.shared.session.print_plugins", lambda *_: printed.append("plugins"))
    assert finished(pulumi.command, "preview", "--stack", "dev", "--json")[0] == 0
    assert printed == []
    assert finished(pulumi.command, "preview", "--stack", "dev", "--diff")[0] == 0
    assert len(printed) == 2
