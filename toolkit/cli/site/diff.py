"""`./hpc site diff`: how running configurations differ from what the settings mean."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from core.wording import plural
from stacks.site import assembly as site
from stacks.site.site import Site
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_text, show_rows
from toolkit.cli.shared.errors import Judging, Problem
from toolkit.cli.shared.options import DEFAULT_STACK, StackOption
from toolkit.cli.site.comparison import Compared
from toolkit.cli.site.comparisons import COMPARISONS
from toolkit.evidence.reader import read
from toolkit.evidence.wording import listed

Files = Annotated[
    list[str] | None,
    typer.Option(
        "--file", "-f", help="Running configuration, or output of a command; repeatable. - is standard input."
    ),
]
MoreFiles = Annotated[list[str] | None, typer.Argument(metavar="FILE", help="Further files, without -f.")]


class KIND(Judging):
    """A command that ends with 2 where nothing was compared, as diff(1) does."""

    unjudged = 2


_OTHERS_SHOWN = 3
"""Statements that are named of those that no setting speaks of."""


def command(file: Files = None, more: MoreFiles = None, *, stack: StackOption = DEFAULT_STACK) -> None:
    """Compare running configurations with the settings.

    Exit status 0 where nothing is missing, superfluous or different, 1 where something is, 2 where a file has nothing
    to compare. What the settings do not cover is counted but not compared. Passwords and hashes in the files are
    neither compared nor shown.
    """
    names = [*(file or ()), *(more or ())]
    if not names:
        raise typer.BadParameter("name files, or - for standard input", param_hint="-f")
    facts = site.of(stacks.read(stack).settings, stack)
    comparisons = [comparison for name in names for comparison in _compared(name, facts)]
    for name, comparison in comparisons:
        rows = [(difference.kind, difference.expected, difference.running) for difference in comparison.differences]
        show_rows(f"{comparison.what} in {name}", ("difference", "wanted", "running"), rows)
        if not rows:
            print_text(f"{comparison.what} in {name} matches the settings of stack {stack}")
        if comparison.others:
            others = plural(len(comparison.others), "statement is", "statements are")
            print_text(f"{others} not compared, for no setting speaks of it: {_some(comparison.others)}")
    if any(comparison.differences for _, comparison in comparisons):
        raise typer.Exit(1)


def _compared(name: str, facts: Site) -> Iterator[tuple[str, Compared]]:
    """Yield what is compared of a file; raise Problem where there is nothing."""
    try:
        readings = read(Path(name))
    except OSError as error:
        raise Problem(f"{name}: {error.strerror or error}", "Name a file that can be read.") from None
    comparable = [reading for reading in readings if reading.tool in COMPARISONS]
    if not comparable:
        others = sorted({reading.tool for reading in readings} - {"unknown"})
        what = f"it is the output of {listed(others)}" if others else str(readings[-1].incomplete)
        raise Problem(
            f"{name}: nothing in it can be compared: {what}",
            f"Give a running configuration, or what one of these printed: {', '.join(sorted(COMPARISONS))}.",
        )
    for reading in comparable:
        if not reading.complete:
            raise Problem(  # what is not there would be missing on the device
                f"{reading.file}: the output of {reading.tool} is not whole: {reading.incomplete}",
                "Store it again, from the command to its end.",
            )
        yield name, COMPARISONS[reading.tool].compare(reading, facts)


def _some(statements: Sequence[str]) -> str:
    more = f" and {len(statements) - _OTHERS_SHOWN} more" if len(statements) > _OTHERS_SHOWN else ""
    return f"{', '.join(statements[:_OTHERS_SHOWN])}{more}"
