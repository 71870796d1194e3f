"""Errors that a person can act on."""


class SimulatorError(Exception):
    """Something that the user can put right; the message says what happened and what to do about it."""
