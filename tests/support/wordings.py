"""Messages of other projects, as their releases print them: what a line means is held to these."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from core.yaml import text as yaml_text

_FOLDER = Path(__file__).parent.parent / "toolkit" / "evidence" / "wordings"


@dataclass(frozen=True)
class Wording:
    """One message, with examples of its figures."""

    message: str
    file: str
    """Of the project's sources, or the project."""
    since: str = ""
    """First release that prints it so; empty: not determined."""
    until: str = ""
    """Last such release; empty: the newest that was read."""
    cause: str | None = None
    """Name of the cause that it shows; None: none, it is harmless or says no more than that something failed."""
    record: str | None = None
    """Field of the reading in which a parser stores it; None: no parser does."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Fields of that record."""

    def __str__(self) -> str:
        """Return what identifies it in a test's name."""
        return f"{self.file}-{self.since}-{self.message[:48]}"


@cache
def wordings(project: str) -> tuple[Wording, ...]:
    """Return the messages of a project."""
    return tuple(Wording(**entry) for entry in yaml_text.read((_FOLDER / f"{project}.yaml").read_text()))
