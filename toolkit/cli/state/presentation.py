"""The output of commands of the state: lines of what was created, rows of stacks and of older states."""

from collections.abc import Iterable
from datetime import UTC, datetime

from toolkit.cli.shared.backends import older_states
from toolkit.cli.shared.backends.backend import Backend
from toolkit.cli.shared.backends.bucket_parts import BAD, GOOD, UNKNOWN, Finding
from toolkit.cli.shared.console import print_text, print_warning, show_rows, styled
from toolkit.cli.shared.errors import Problem

_COLOURS = {GOOD: "green", BAD: "red", UNKNOWN: "yellow"}


def findings(rows: Iterable[Finding]) -> None:
    """Print findings, and what to do where they are not good."""
    all_rows = list(rows)
    show_rows(
        "State",
        ("check", "result", "details"),
        ((row.name, styled(row.status, _COLOURS[row.status]), row.text) for row in all_rows),
    )
    for row in all_rows:
        if row.status != GOOD and row.remedy:
            print_text(f"{row.name}: {row.remedy}")


def print_created(finding: Finding, changed: bool = False) -> None:
    """Print what was created, or was there; a warning where the service does not know it."""
    if finding.status == UNKNOWN:
        print_warning(f"{finding.name}: {finding.text}\n{finding.remedy}")
        return
    done = "set" if changed else "was so already" if finding.status == GOOD else "NOT GOOD"
    print_text(f"{finding.name}: {finding.text} ({done})")
    if finding.status == BAD:
        print_text(f"  {finding.remedy}")


def stack_row(backend: Backend, name: str) -> tuple[str, ...]:
    """Return the row of a stack: name, resources, size, when it was written, who has its lock."""
    try:
        count = str(len(backend.resources(name)))
        locks = ", ".join(lock.holder for lock in backend.locks(name))
    except Problem as problem:
        count, locks = "unreadable", str(problem).partition("\n")[0]
    written = backend.written(name)
    size = len(backend.read(name) or b"")
    return name, count, f"{size / 1e6:.1f} MB", _time(written) if written else "removed", locks


def older_rows(backend: Backend, shown: tuple[older_states.Kept, ...]) -> Iterable[tuple[str, ...]]:
    """Yield the rows of older states: id, kind, when they were written, resources."""
    for state, deployment in zip(shown, older_states.read_all(backend, shown), strict=True):
        count = (
            "removed"
            if state.removed
            else str(len(older_states.resources(deployment)))
            if deployment is not None
            else "none"
        )
        yield state.id, state.kind, _time(state.modified), count


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
