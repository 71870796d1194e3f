"""Errors that are for the user, of whichever room: their base, and that of data sets."""

from typing_extensions import override

from core import project


class UserError(Exception):
    """An error that the user can act on: what is wrong, and what to do. Commands print it without a traceback."""

    @override
    def __str__(self) -> str:
        """Return the message, with pages of the product where they are."""
        return project.located(super().__str__())


class DataSetError(UserError):
    """A data set, its catalogue or its lock is wrong; the message names what, the value and the remedy."""
