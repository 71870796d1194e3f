"""A start that failed: what is reported, and what stays of the first error."""

import errno
from pathlib import Path

import pytest

from toolkit.engine.errors import SimulatorError
from toolkit.simulator.processes.supervisor import Processes
from toolkit.simulator.status import end_failed_start


class Stubborn(Processes):
    """Processes of a test, which may be dead, and cannot always be stopped."""

    def __init__(self, home: Path, *, dead: bool = False, stops: bool = True) -> None:
        super().__init__(home)
        self._dead, self._stops = dead, stops

    def require_alive(self, names: object) -> None:
        """Raise the death of a process."""
        if self._dead:
            raise SimulatorError(f"etcd ended, of {names}")

    def stop(self, *_: object) -> tuple[str, ...]:
        """Stop nothing."""
        if not self._stops:
            raise PermissionError(errno.EPERM, "not permitted", "pids.json")
        return ()


def failure(error: BaseException, processes: Processes) -> BaseException:
    """Return what a start raises that failed with an error."""
    try:
        raise error
    except BaseException as first:
        return end_failed_start(first, processes, ["etcd"], ["kwok"])


def test_the_death_of_a_process_does_not_replace_the_request(tmp_path: Path) -> None:
    """A request without an answer is reported with who died, what it ended with, and where its traceback is."""
    reported = failure(ConnectionRefusedError("refused at 6443"), Stubborn(tmp_path, dead=True))
    log = tmp_path / "logs" / "start.log"
    assert str(reported).startswith("etcd ended, of ['etcd', 'kwok']\n")
    assert f"refused at 6443 (its traceback is in {log})" in str(reported)
    assert "ConnectionRefusedError: refused at 6443" in log.read_text()
    assert "in failure" in log.read_text()


def test_a_request_without_a_death_has_a_traceback_too(tmp_path: Path) -> None:
    """A fault of ours that looks like a request, such as a missing file, can be traced."""
    reported = failure(FileNotFoundError("no such file"), Stubborn(tmp_path))
    assert f"no such file (its traceback is in {tmp_path / 'logs/start.log'}); the last lines of" in str(reported)


def test_a_failure_to_stop_hides_no_failure_to_start(tmp_path: Path) -> None:
    """The error of the start comes first; that of the end is added, with the command that repeats it."""
    reported = failure(SimulatorError("port 1 is taken"), Stubborn(tmp_path, stops=False))
    assert isinstance(reported, SimulatorError)
    assert str(reported).startswith("port 1 is taken\nWhat it had started could not be stopped: PermissionError")
    assert str(reported).endswith("run `./hpc sim down`.")
    text = (tmp_path / "logs" / "start.log").read_text()
    assert text.index("port 1 is taken") < text.index("not permitted")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), KeyError("a fault"), OSError(errno.ENOSPC, "full")], ids=repr)
def test_other_errors_stay_what_they_are(error: BaseException, tmp_path: Path) -> None:
    """An interrupt, a fault of ours and a full disk are raised as they are, with what could not be stopped."""
    assert failure(error, Stubborn(tmp_path)) is error
    assert failure(error, Stubborn(tmp_path, stops=False)) is error
    (note,) = error.__notes__
    assert "could not be stopped: PermissionError" in note
