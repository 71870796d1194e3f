"""A start that failed: what it started is stopped, and the first error stays, as a cause and in a log."""

import errno
import traceback
from collections.abc import Sequence

from toolkit.engine.errors import SimulatorError
from toolkit.simulator.processes import Processes

LOG = "start"
"""Name of the log, beside those of the processes."""
_SERVER = "kube-apiserver"


def end(error: BaseException, processes: Processes, kept: Sequence[str], started: Sequence[str]) -> BaseException:
    """Stop what was started; return the error to raise from the first one, or that one itself.

    A request that got no answer is reported as the death of the process that it waited for.
    """
    explained = _explain(error, processes, [*kept, *started])
    left = _stop(processes, started)
    if left is None:
        return explained
    message = f"What it had started could not be stopped: {left!r}{_log(left, processes)}; run `./hpc sim down`."
    if isinstance(explained, SimulatorError):
        return SimulatorError(f"{explained}\n{message}")
    explained.add_note(message)
    return explained


def _stop(processes: Processes, started: Sequence[str]) -> Exception | None:
    """Stop the processes; return the error with which that ended."""
    try:
        processes.stop(started)
    except Exception as left:
        return left
    return None


def _explain(error: BaseException, processes: Processes, names: Sequence[str]) -> BaseException:
    if not isinstance(error, OSError) or error.errno == errno.ENOSPC:
        return error
    where = _log(error, processes)
    try:
        processes.require_alive(names)
    except SimulatorError as death:
        return SimulatorError(f"{death}\nThe request that it did not answer ended with: {error}{where}.")
    except OSError:  # what died cannot be read
        return error
    lines = f"the last lines of {processes.log(_SERVER)}:\n{processes.tail(_SERVER)}"
    return SimulatorError(f"{error}{where}; {lines}")


def _log(error: BaseException, processes: Processes) -> str:
    """Add an error with its traceback to the log; return where that is, for a message."""
    log = processes.log(LOG)
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch(mode=0o600)
        with log.open("a") as file:
            file.writelines(traceback.format_exception(error))
    except OSError:  # the disk is full, or the home not ours: the error itself is in the message
        return ""
    return f" (its traceback is in {log})"
