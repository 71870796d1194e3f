"""The one clear message with which a command that cannot go on ends."""

import errno

import typer

_FOR_USERS = {"rendering.manifests.FolderError", "simulator.errors.SimulatorError", "stacks.settings.SettingsError"}
"""By name: the modules take half a second to import, and who raised one of these has done so already."""


class Problem(Exception):
    """Something that the user can put right: what happened, and what to do about it."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(f"{what}\n{remedy}" if remedy else what)


def explain(error: BaseException) -> str | None:
    """Return the message for an error that a user can act on, or None for a fault of this program."""
    names = {f"{each.__module__}.{each.__qualname__}" for each in type(error).__mro__}
    if isinstance(error, Problem) or names & _FOR_USERS:
        return str(error)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space left on the disk ({error.filename or 'while writing'})\nMake room and run the command again."
    if isinstance(error, PermissionError):
        return (
            f"not allowed: {error}\nGive yourself the right to that file, or set HPC_SIM_HOME or HPC_CACHE elsewhere."
        )
    return None


def tell(message: str) -> None:
    """Print the message of an error."""
    typer.secho("error: ", fg=typer.colors.RED, bold=True, nl=False, err=True)
    typer.echo(message, err=True)
