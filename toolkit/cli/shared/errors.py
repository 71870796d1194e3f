"""How a command that cannot go on ends: one clear message, an exit status, and a log of faults of this program."""

import errno
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

from core import project
from core.errors import UserError
from toolkit.cli.shared.paths import own_files


class Problem(UserError):
    """An error of a command that the user can correct: what is wrong, and the remedy."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(f"{what}\n{remedy}" if remedy else what)


def explain(error: BaseException) -> str | None:
    """Return the message for an error that a user can act on, or None for a fault of this program."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        where = error.filename or "while writing"
        return f"no space left on the disk ({where})\nFree some space and run the command again."
    if isinstance(error, PermissionError):
        return (
            f"not allowed: {error}\nGive yourself the right to that file, or set HPC_SIM_HOME or HPC_CACHE elsewhere."
        )
    return None


def print_error(message: str) -> None:
    """Print the message of an error."""
    typer.secho("error: ", fg=typer.colors.RED, bold=True, nl=False, err=True)
    typer.echo(project.located(message), err=True)


UNJUDGED = 3
"""Nothing was judged: wrong options, a cluster that does not answer, files that cannot be read, a fault of hpc."""


class Judging(TyperCommand):
    """A command that ends with UNJUDGED where others end with 1, or with 2 for wrong options."""

    unjudged = UNJUDGED

    def make_context(self, *args: Any, **others: Any) -> Any:
        """Read the command line."""
        try:
            return super().make_context(*args, **others)
        except typer.TyperException as error:
            error.exit_code = self.unjudged
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run it."""
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:
            message = explain(error)
            if message is None:
                traceback.print_exc()
            else:
                print_error(message)
            raise typer.Exit(self.unjudged) from None


def fault_log() -> Path:
    """Return the log, which all commands of a user share."""
    return own_files() / "logs" / "faults.log"


def recorded_fault(error: Exception, doing: str) -> str:
    """Add an error's traceback to the log; return a line that names the fault, and where its traceback is."""
    log, trace = fault_log(), "".join(traceback.format_exception(error))
    fault = f"{doing}: a fault of ./hpc, {type(error).__name__}: {' '.join(str(error).split())}"
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch(mode=0o600)
        with log.open("a") as file:
            file.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {doing}\n{trace}\n")
    except OSError as unwritable:
        return f"{fault}; its traceback is not in {log} ({unwritable.strerror}):\n{trace.rstrip()}"
    return f"{fault}; its traceback is in {log}"
