"""The one writer of tables."""

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from toolkit.cli.shared.console import console

Cell = str | Text
"""Text of a cell, plain or `styled`."""
_FOLDED = {
    *("name", "state", "claims", "rdma/*", "nvidia.com/mig-*", "job", "nodes used", "fits on", "ports", "value"),
    *("complete", "details", "figures", "measured", "limit", "source", "SCC", "verdict", "filled in"),
    *("object", "field", "on the cluster", "declared", "why"),
    *("wanted", "running", "what it sets"),
}
"""Columns that wrap where the terminal is narrow; the others have their full width, and all are shown."""


def show_times(steps: Iterable[tuple[str, float]], peak: int) -> None:
    """Print how long each step took, and the peak memory in bytes."""
    show_rows("Time", ("step", "seconds"), ((title, f"{seconds:.1f}") for title, seconds in steps))
    if peak:
        console.print(f"Peak resident memory of the simulated cluster: {peak / 2**20:.0f} MiB")


def show_rows(title: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """Print one table, if it has rows; without a title where that is empty."""
    table = Table(
        title=title or None, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0)
    )
    for column in columns:
        table.add_column(column, no_wrap=column not in _FOLDED, overflow="fold")
    filled = list(rows)
    for row in filled:
        table.add_row(*row)
    if filled:
        console.print(table)
        console.print()
