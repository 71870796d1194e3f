"""What commands of the state say: lines of what was made, rows of stacks and of older states."""

from collections.abc import Iterable
from datetime import UTC, datetime

from rich.markup import escape

from cli import tables
from cli.backends import kept
from cli.backends.backend import Backend
from cli.backends.setup import BAD, GOOD, UNKNOWN, Finding
from cli.console import console, errors
from cli.errors import Problem

_COLOURS = {GOOD: "green", BAD: "red", UNKNOWN: "yellow"}


def findings(rows: Iterable[Finding]) -> None:
    """Print how things stand, and what to do where they are not good."""
    all_rows = list(rows)
    tables.show_rows(
        "State",
        ("what", "standing", "state"),
        ((row.name, f"[{_COLOURS[row.standing]}]{row.standing}[/]", escape(row.text)) for row in all_rows),
    )
    for row in all_rows:
        if row.standing != GOOD and row.remedy:
            console.print(f"{row.name}: {row.remedy}", markup=False)


def say(found: Finding, changed: bool = False) -> None:
    """Print what was made, or was there; a warning where the service does not know it."""
    if found.standing == UNKNOWN:
        errors.print(f"warning: {found.name}: {found.text}\n{found.remedy}", markup=False)
        return
    done = "set" if changed else "was so already" if found.standing == GOOD else "NOT GOOD"
    console.print(f"{found.name}: {found.text} ({done})", markup=False)
    if found.standing == BAD:
        console.print(f"  {found.remedy}", markup=False)


def stack_row(there: Backend, name: str) -> tuple[str, ...]:
    """Return the row of a stack: name, resources, size, when it was written, who holds its lock."""
    try:
        count = str(len(kept.resources(there.checkpoint(name))))
        locks = ", ".join(lock.holder for lock in there.locks(name))
    except Problem as problem:
        count, locks = "unreadable", str(problem).partition("\n")[0]
    written = there.written(name)
    size = len(there.read(name) or b"")
    return name, count, f"{size / 1e6:.1f} MB", _time(written) if written else "removed", escape(locks)


def older_rows(there: Backend, shown: tuple[kept.Kept, ...]) -> Iterable[tuple[str, ...]]:
    """Yield the rows of older states: id, kind, when they were written, resources."""
    for one, found in zip(shown, kept.read_all(there, shown), strict=True):
        count = "removed" if one.removed else str(len(kept.resources(found))) if found is not None else "none"
        yield one.id, one.kind, _time(one.modified), count


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
