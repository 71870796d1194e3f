"""Errors that the user can act on."""

from core.errors import UserError


class SimulatorError(UserError):
    """Something that the user can correct; the message says what happened and what to do about it."""
