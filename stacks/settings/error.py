"""The error of wrong settings."""

from collections.abc import Sequence

import pulumi

from core.errors import UserError


class SettingsError(pulumi.RunError, UserError):
    """The settings of a stack are wrong; the message names every field, its value and the remedy."""


def wrong(source: str, problems: Sequence[str]) -> SettingsError:
    """Return the error of a file with all that is wrong in it, a line for each."""
    return SettingsError(f"{source}: {len(problems)} wrong\n" + "\n".join(problems))
