"""What a comparison of a node with its machine file finds."""

from typing import NamedTuple


class Difference(NamedTuple):
    """One difference, with what to do about it."""

    what: str
    expected: object
    seen: object
    remedy: str

    def __str__(self) -> str:
        """Return it in one line."""
        return f"{self.what}: expected {self.expected}, found {self.seen}; {self.remedy}"


class NotCompared(NamedTuple):
    """What could not be compared."""

    what: str
    why: str

    def __str__(self) -> str:
        """Return it in one line."""
        return f"{self.what}: not compared: {self.why}"
