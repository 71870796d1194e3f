"""The base of errors that are for the user, of whichever room."""

from typing_extensions import override

from core import project


class UserError(Exception):
    """An error that the user can act on: what is wrong, and what to do. Commands print it without a traceback."""

    @override
    def __str__(self) -> str:
        """Return the message, with pages of the product where they are."""
        return project.located(super().__str__())
