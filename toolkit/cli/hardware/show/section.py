"""One section of a plan, as a table and as data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from toolkit.cli.shared.console import console, print_text, show_rows, styled

Cell = int | str | None | tuple[int, ...] | tuple[str, ...]
"""A value; None where no source document gives one."""
Row = Mapping[str, Cell]
"""Values by the title of their column, which has the unit."""
_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Section:
    """Rows that have the same columns, and notes on them. One row alone is shown as a list of its values."""

    name: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    source: str = ""

    @property
    def title(self) -> str:
        """Its name, with the source of its figures."""
        return f"{self.name} ({self.source})" if self.source else self.name

    def show(self) -> None:
        """Print it."""
        if len(self.rows) == 1:
            show_rows(self.title, ("what", "value"), ((key, text(cell)) for key, cell in self.rows[0].items()))
        elif self.rows:
            show_rows(self.title, tuple(self.rows[0]), (tuple(map(text, row.values())) for row in self.rows))
        else:
            console.print(styled(self.title, "bold"))
        for note in self.notes:
            print_text(f"- {note}")
        if self.notes:
            console.print()

    def data(self) -> dict[str, Any]:
        """Return it for a program, with the columns' titles as keys."""
        return {"source": self.source or None, "rows": [dict(row) for row in self.rows], "notes": list(self.notes)}


def calculated(notes: list[str], calculate: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T | None:
    """Return what is calculated; None, with the reason in `notes`, where documents give too little for it."""
    try:
        return calculate(*args, **kwargs)
    except ValueError as error:
        notes.append(str(error))
        return None


def text(cell: Cell) -> str:
    """Return a value as a table has it."""
    if cell is None:
        return "not given"
    if isinstance(cell, tuple):
        return ", ".join(map(str, cell)) or "none"
    return str(cell)
