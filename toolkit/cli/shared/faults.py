"""Faults of this program that a command goes on after: the traceback goes to a log, whose path is in the message."""

import traceback
from datetime import UTC, datetime
from pathlib import Path

from toolkit.cli.shared.paths import own_files


def log_file() -> Path:
    """Return the log, which all commands of a user share."""
    return own_files() / "logs" / "faults.log"


def recorded(error: Exception, doing: str) -> str:
    """Add an error's traceback to the log; return a line that names the fault, and where its traceback is."""
    log, trace = log_file(), "".join(traceback.format_exception(error))
    fault = f"{doing}: a fault of ./hpc, {type(error).__name__}: {' '.join(str(error).split())}"
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch(mode=0o600)
        with log.open("a") as file:
            file.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {doing}\n{trace}\n")
    except OSError as unwritable:
        return f"{fault}; its traceback is not in {log} ({unwritable.strerror}):\n{trace.rstrip()}"
    return f"{fault}; its traceback is in {log}"
