"""How messages and pages write a number with its noun, a list of names and a table; names that are given twice."""

from collections import Counter
from collections.abc import Iterable, Sequence

_MOST = 16


def plural(number: int, noun: str, nouns: str = "") -> str:
    """Return a number of things: `1 node`, `1,200 nodes`."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown, of cells that are escaped already."""
    return "\n".join((_row(heads), "|" + "---|" * len(heads), *map(_row, rows)))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def some(names: Sequence[str], most: int = _MOST) -> str:
    """Return names separated by commas; beyond `most`, how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def duplicates(names: Iterable[str]) -> list[str]:
    """Return the names that are there more than once, in alphabetical order."""
    return sorted(name for name, count in Counter(names).items() if count > 1)
