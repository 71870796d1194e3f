"""The one clear message with which a command that cannot go on ends."""

import errno

from rendering.manifests import FolderError
from simulator.errors import SimulatorError
from stacks.settings import SettingsError


class Problem(Exception):
    """Something that the user can put right: what happened, and what to do about it."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(f"{what}\n{remedy}" if remedy else what)


def explain(error: BaseException) -> str | None:
    """Return the message for an error that a user can act on, or None for a fault of this program."""
    if isinstance(error, Problem | SettingsError | SimulatorError | FolderError):
        return str(error)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space left on the disk ({error.filename or 'while writing'})\nMake room and run the command again."
    if isinstance(error, PermissionError):
        return (
            f"not allowed: {error}\nGive yourself the right to that file, or set HPC_SIM_HOME or HPC_CACHE elsewhere."
        )
    return None
