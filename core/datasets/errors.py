"""The error of data sets that the user can correct."""

from core.errors import UserError


class DataSetError(UserError):
    """A data set, its catalogue or its lock is wrong; the message names what, the value and the remedy."""
