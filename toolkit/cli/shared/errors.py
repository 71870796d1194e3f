"""The one clear message with which a command that cannot go on ends."""

import errno

import typer

from core import project
from core.errors import UserError


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
