"""Rules that span settings: a module for each subject yields problems that name the setting, value and remedy."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stacks.settings.resolved_pool import Pool


def repeated(what: str, values: Iterable[str]) -> Iterator[str]:
    """Yield a problem for every value that was there before; `what` names the setting."""
    seen: set[str] = set()
    for value in values:
        if value in seen:
            yield f"{what} {value!r} is given twice; give each its own"
        seen.add(value)


def of_pool(pool: Pool) -> str:
    """Return the pool as messages append it; nothing where the stack has no `pools`."""
    return f" of pool {pool.name}" if pool.declared else ""


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
