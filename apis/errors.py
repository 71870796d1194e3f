"""The base of errors that are for the user, of whichever room."""


class UserError(Exception):
    """An error that the user can act on: what is wrong, and what to do. Commands print it without a traceback."""
