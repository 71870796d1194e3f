"""What the user sees: one console, tables, and the progress of long work (a bar on a terminal, else plain lines).

No text is markup or an emoji, whoever wrote it: a name, a path or a line of a log may look like either. What has a
colour is `styled`.
"""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TextIO

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from core import project
from core.progress import Step
from toolkit.cli.shared.errors import Problem

_WIDTH = None if sys.stdout.isatty() else 140  # in a log, tables must not be cut to a terminal of 80


def new_console(*, file: TextIO | None = None, width: int | None = None, stderr: bool = False) -> Console:
    """Return a console that prints text as it is; without a file on standard output, or on standard error."""
    return Console(file=file, width=width, stderr=stderr, highlight=False, soft_wrap=True, markup=False, emoji=False)


console = new_console(width=_WIDTH)
errors = new_console(stderr=True)


def styled(text: object, style: str) -> Text:
    """Return text in a style, such as `bold red`."""
    return Text(str(text), style)


def print_parts(*parts: str | Text) -> None:
    """Print plain and styled parts as one line."""
    console.print(*parts, sep="")


def print_text(text: object) -> None:
    """Print plain text."""
    console.print(project.located(str(text)))


def print_notice(text: object) -> None:
    """Print plain text on standard error."""
    errors.print(project.located(str(text)))


def print_warning(text: object) -> None:
    """Print a warning on standard error."""
    print_notice(f"warning: {text}")


def confirmed(question: str, *, yes: bool) -> bool:
    """Return the user's answer, which `yes` gives; raise Problem where there is no terminal to ask on."""
    if not yes and not sys.stdin.isatty():
        raise Problem(f"no terminal to confirm on: {question}", "Add --yes.")
    return yes or typer.confirm(question)


@dataclass
class Timings:
    """Wall-clock time of each step of one command, in seconds, in order."""

    steps: list[tuple[str, float]] = field(default_factory=list)

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Time a step, whether it ends well or not."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self.steps.append((title, time.monotonic() - begin))


class _Bar:
    def __init__(self, bars: Progress, task: TaskID) -> None:
        self._bars, self._task = bars, task

    def update(self, done: float | None = None, total: float | None = None, what: str = "") -> None:
        self._bars.update(self._task, completed=done, total=total, what=what)


class _Lines:
    """Says what is worked on when it changes, at most every few seconds, for logs and pipes."""

    PAUSE = 5.0  # seconds

    def __init__(self, title: str) -> None:
        self._title, self._printed, self._when = title, "", time.monotonic()

    def update(self, done: float | None = None, total: float | None = None, what: str = "") -> None:
        now = time.monotonic()
        if what != self._printed and now - self._when >= self.PAUSE:
            count = f" {done:.0f}/{total:.0f}" if done is not None and total else ""
            print_text(f"  {self._title}{count}: {what}")
            self._printed, self._when = what, now


class Reporter:
    """Shows steps as they run and prints how long each took (`core.progress.Progress`)."""

    def step(self, title: str) -> AbstractContextManager[Step]:
        """Begin a step; its bar goes when it ends, and one line with its time stays."""
        return self._bar(title) if console.is_terminal else self._lines(title)

    @contextmanager
    def _bar(self, title: str) -> Iterator[Step]:
        title_column, what = (TextColumn(text, markup=False) for text in ("{task.description}", "{task.fields[what]}"))
        columns = (SpinnerColumn(), title_column, BarColumn(), TimeElapsedColumn(), what)
        with Progress(*columns, console=console, transient=True) as bars:
            yield from self._timed(title, _Bar(bars, bars.add_task(title, total=None, what="")))

    @contextmanager
    def _lines(self, title: str) -> Iterator[Step]:
        print_text(f"- {title} ...")
        yield from self._timed(title, _Lines(title))

    def _timed(self, title: str, step: Step) -> Iterator[Step]:
        begin = time.monotonic()
        yield step
        print_text(f"- {title}: {time.monotonic() - begin:.1f} s")


Cell = str | Text
"""Text of a cell, plain or `styled`."""
_FOLDED = {
    *("name", "state", "claims", "rdma/*", "nvidia.com/mig-*", "job", "nodes used", "fits on", "ports", "value"),
    *("complete", "details", "figures", "measured", "limit", "source", "SCC", "verdict", "filled in"),
    *("object", "field", "on the cluster", "declared", "why"),
    *("wanted", "running", "what it sets", "restarts", "with", "lost at most"),
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
