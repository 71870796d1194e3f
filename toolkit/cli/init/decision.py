"""What the user must decide in a file that `./hpc init` writes."""

from dataclasses import dataclass

from toolkit.review import paths

MARK = "DECIDE"
"""Begins the comment at every place where the user decides."""
REVIEW = "REVIEW"
"""The same where the example's value may do."""
Path = tuple[str | int, ...]
"""Keys and indices below the key of the settings; the comment is above what is there."""


@dataclass(frozen=True)
class Decision:
    """One decision: where, what, and lines of the file to choose from."""

    path: Path
    text: str
    options: tuple[str, ...] = ()
    mark: str = MARK

    @property
    def place(self) -> str:
        """The path as messages of the settings write it: `tenants[0].data`."""
        return paths.show(self.path)
