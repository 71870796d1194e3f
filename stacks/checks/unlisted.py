"""A version outside a vendor's table."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Unlisted:
    """A setting whose version a vendor's table does not have; `allow` of the settings accepts it."""

    place: str
    value: str
    reason: str
    """What the table says, with its source."""
    remedy: str
    refused: bool = True
    """Whether it is an error; a version that no table decides about is a warning."""

    def __str__(self) -> str:
        """Return it as a message."""
        return f"{self.place} {self.value}: {self.reason}; {self.remedy}"
