"""The exit status of what could not be judged: a pipeline must not take it for a platform that failed."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.commands import exit_status
from tests.toolkit.evidence.criteria.cases import TABLE, nccl
from toolkit.cli.shared.exit_status import UNJUDGED
from toolkit.cli.verify import log_files


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--wait", "soon"], "--wait"),
        (["--unknown"], "--unknown"),
        (["--transport", "pigeon", "-f", "x.log"], "pigeon"),
        (["--machine", "dgx9", "-f", "x.log"], "Known:"),
        (["-f", "gone.log"], "gone.log"),
        (["--stack", "none"], "no settings for stack"),
        (["--sharp"], "--sharp is for logs in files"),
        ([], "error: the simulated cluster default is absent"),
    ],
)
@pytest.mark.usefixtures("sim_home")
def test_what_keeps_from_judging_is_no_failure(
    capfd: pytest.CaptureFixture[str], arguments: Sequence[str], said: str
) -> None:
    """A wrong option and a missing file have the status of what was not judged."""
    assert exit_status("verify", *arguments) == UNJUDGED
    assert said in capfd.readouterr().err


def test_a_fault_of_hpc_is_no_failure_and_shows_itself(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A fault of ./hpc has the status of what was not judged, and its traceback."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr(log_files, "job", broken)
    assert exit_status("verify", "-f", "x.log") == UNJUDGED
    assert "ZeroDivisionError: of ours" in capfd.readouterr().err


def test_what_was_judged_keeps_its_status(tmp_path: Path) -> None:
    """A failed criterion has status 1, missing evidence status 2."""
    log = tmp_path / "job.log"
    log.write_text(nccl().replace("NET/IB/0/GDRDMA", "NET/Socket/0") + TABLE)
    asked = ("--machine", "dgx1-v100-16gb", "--layout", "02x08", "--transport", "gpudirect")
    assert exit_status("verify", "-f", str(log), *asked) == 1
    log.write_text("")
    assert exit_status("verify", "-f", str(log), *asked) == 2
    assert exit_status("verify", "--help") == 0


def test_other_commands_keep_theirs() -> None:
    """Other commands have the usual statuses."""
    assert exit_status("report", "--unknown") == 2
