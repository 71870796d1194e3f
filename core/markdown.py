"""A table in Markdown, for the generated pages and reports of all rooms."""

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are escaped already."""
    return "\n".join((_row(heads), "|" + "---|" * len(heads), *map(_row, rows)))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
