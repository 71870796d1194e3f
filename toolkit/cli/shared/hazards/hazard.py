"""A hazard of a site, and how texts name it."""

from collections.abc import Iterable
from dataclasses import dataclass

from toolkit.review.sentences import bare, ranges

NOT_CHECKED = "not-checked"
"""Name of what says which hazards could not be determined."""


@dataclass(frozen=True)
class Hazard:
    """One hazard: what its cause is at which objects, and what removes it."""

    name: str
    """The same for all of a kind, e.g. `driver-upgrade-stuck`."""
    place: str
    """The objects, e.g. `Node gpu01 to gpu08`; empty of what was not checked."""
    cause: str
    remedy: str = ""
    """A sentence; empty where the cause says it."""
    source: str = ""
    """Who says so: a page, an issue; empty where the object itself does."""

    @property
    def undetermined(self) -> bool:
        """Whether this is what could not be checked."""
        return self.name == NOT_CHECKED

    @property
    def text(self) -> str:
        """The hazard in one paragraph."""
        return ": ".join(filter(None, (self.place, self.cause))) + (f". {self.remedy}" if self.remedy else "")


def nodes(names: Iterable[str]) -> str:
    """Return the place of some nodes."""
    return f"Node {bare(ranges(names))}"
