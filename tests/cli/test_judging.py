"""The exit status of what could not be judged: a pipeline must not take it for a platform that failed."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from cli import app
from cli.commands import verify
from cli.errors import Problem
from cli.judging import UNJUDGED
from tests.evidence.criteria.cases import TABLE, nccl


def _status(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["hpc", *arguments])
    with pytest.raises(SystemExit) as left:
        app.main()
    return int(left.value.code or 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--wait", "soon"], "--wait"),
        (["--unknown"], "--unknown"),
        (["--transport", "pigeon", "-f", "x.log"], "pigeon"),
        (["--profile", "dgx9", "-f", "x.log"], "Known:"),
        (["-f", "gone.log"], "gone.log"),
        (["--stack", "none"], "no settings for stack"),
        (["--sharp"], "is for files"),
    ],
)
def test_what_keeps_from_judging_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], arguments: Sequence[str], said: str
) -> None:
    """Prevents a misspelt option from looking like missing evidence, and a lost file like a failed platform."""
    assert _status(monkeypatch, "verify", *arguments) == UNJUDGED
    assert said in capfd.readouterr().err


def test_a_cluster_that_does_not_run_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Prevents a lost cluster from being reported as a platform that failed its tests."""
    monkeypatch.setenv("HPC_SIM_HOME", str(tmp_path))
    assert _status(monkeypatch, "verify") == UNJUDGED
    told = capfd.readouterr().err
    assert "error: the simulated cluster default is absent" in told
    assert "starts it" in told


def test_a_fault_of_hpc_is_no_failure_and_shows_itself(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Prevents Python's own status 1 of a traceback from meaning that a criterion failed."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr(verify, "of_files", broken)
    assert _status(monkeypatch, "verify", "-f", "x.log") == UNJUDGED
    assert "ZeroDivisionError: of ours" in capfd.readouterr().err


def test_what_was_judged_keeps_its_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevents a failure that a pipeline takes for a lost network."""
    log = tmp_path / "job.log"
    log.write_text(nccl().replace("NET/IB/0/GDRDMA", "NET/Socket/0") + TABLE)
    asked = ("--profile", "dgx1-v100-16gb", "--layout", "02x08", "--transport", "gpudirect")
    assert _status(monkeypatch, "verify", "-f", str(log), *asked) == 1
    log.write_text("")
    assert _status(monkeypatch, "verify", "-f", str(log), *asked) == 2
    assert _status(monkeypatch, "verify", "--help") == 0


def test_other_commands_keep_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevents a change of every command's statuses for the sake of one."""
    assert _status(monkeypatch, "parse", "--unknown") == 2
    with pytest.raises(Problem):
        verify.shape("2 by 8")
