"""What a user is given of an error."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from stacks.loading.settings import SettingsError
from tests.support.commands import exit_status
from tests.toolkit.evidence.criteria.cases import TABLE, nccl
from toolkit.cli.shared.errors import UNJUDGED, Problem, explain
from toolkit.cli.verify import log_files
from toolkit.engine.errors import SimulatorError
from toolkit.render.manifests import FolderError


@pytest.mark.parametrize(
    ("error", "part"),
    [
        (OSError(28, "No space left on device", "/some/file"), "Free some space"),
        (PermissionError(13, "Permission denied", "/some/file"), "HPC_SIM_HOME"),
        (Problem("what", "remedy"), "what\nremedy"),
    ],
)
def test_errors_of_users_have_a_remedy(error: Exception, part: str) -> None:
    """Errors that a user can correct are explained with a remedy."""
    assert part in (explain(error) or "")


@pytest.mark.parametrize("kind", [FolderError, SettingsError, SimulatorError])
def test_errors_of_users_are_known_by_name(kind: type[Exception]) -> None:
    """The errors of every room that a user can correct are explained by their message."""
    assert explain(kind("what to do")) == "what to do"


def test_faults_of_the_program_keep_their_traceback() -> None:
    """Any other error is not explained, and keeps its traceback."""
    assert explain(KeyError("x")) is None


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
