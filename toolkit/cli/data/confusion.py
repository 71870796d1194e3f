"""`./hpc data confusion`: what a confusion matrix says of the data, and which minimum counts it suggests."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from core.datasets.card import Card
from core.datasets.choice import card_of
from toolkit.cli.data import chosen
from toolkit.cli.data.chosen import TenantOption
from toolkit.cli.shared.console import Cell, print_text, show_rows, styled
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, JsonOption, StackOption, print_json
from toolkit.datasets import confusion
from toolkit.datasets.confusion import Matrix

_LEAST = 200
WEAK = 0.5
"""Recall below which a class is weak, where nothing else is given."""

MatrixFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="CSV: a line of classes, then a line of counts for each class.")
]
SetOption = Annotated[
    str | None, typer.Option("--data-set", help="Data set of the stack whose card and frames are compared.")
]
BelowOption = Annotated[
    float, typer.Option("--below", min=0, max=1, help="Recall below which a class is weak, 0 to 1.")
]
CardOption = Annotated[str | None, typer.Option("--card", help="Card of the classes, if no data set is given.")]
LeastOption = Annotated[int, typer.Option("--least", min=1, help="Least number of frames to propose for a class.")]


def command(
    file: MatrixFile,
    *,
    card: CardOption = None,
    data_set: SetOption = None,
    stack: StackOption = DEFAULT_STACK,
    tenant: TenantOption = None,
    below: BelowOption = WEAK,
    least: LeastOption = _LEAST,
    plain: JsonOption = False,
) -> None:
    """Read a confusion matrix: rows as labelled, columns as recognised.

    Lists classes that were not evaluated at all and those with a weak recall, and proposes `at_least` for them.
    """
    class_card, frames = _card_and_frames(card, data_set, stack, tenant)
    matrix = confusion.renamed(read_matrix(file), _spellings(class_card), str(file))
    proposal = confusion.proposal(matrix, frames, below=below, least=least)
    if plain:
        print_json(_data(matrix, proposal, below))
        return
    recall, weak = matrix.recall, set(matrix.weak(below))
    rows = (
        (name, f"{number:,}", f"{recall[name]:.4f}" if name in recall else "", _verdict(name, recall, weak))
        for name, number in sorted(matrix.labelled.items(), key=lambda item: (-item[1], item[0]))
    )
    show_rows(f"{file}: {class_card.title}", ("class", "labelled", "recall", "verdict"), rows)
    for finding in findings(matrix, below):
        print_text(f"- {finding}")
    if proposal:
        print_text("proposed for the data set:")
        print_text(f"  at_least: {{{', '.join(f'{name}: {number}' for name, number in proposal.items())}}}")


def _card_and_frames(
    card: str | None, data_set: str | None, stack: str, tenant: str | None
) -> tuple[Card, Mapping[str, int]]:
    """Return the card of the classes, and how many frames of a locked data set have each; raise Problem for neither."""
    if data_set:
        named = chosen.find(data_set, stack, tenant)
        return card_of(named.settings.card), named.lock.frames_by_class
    if card is None:
        raise Problem("the card of the matrix is not given", "Name it with --card, or a data set with --data-set.")
    return chosen.find_card(card), {}


def _spellings(card: Card) -> Mapping[str, str]:
    """Return the tags of a card's classes, by what an evaluation may print: the tag, or the class's name."""
    return {**card.tag_of_class, **{tag: tag for tag in card.class_tags}}


def _verdict(name: str, recall: Mapping[str, float], weak: set[str]) -> Cell:
    if name not in recall:
        return styled("not evaluated: no label has it", "red")
    return styled("weak", "yellow") if name in weak else ""


def _data(matrix: Matrix, proposal: Mapping[str, int], below: float) -> dict[str, Any]:
    return {
        "recall": matrix.recall,
        "labelled": matrix.labelled,
        "empty": matrix.empty,
        "weak": matrix.weak(below),
        "rank_correlation": matrix.rank_correlation,
        "at_least": proposal,
    }


def read_matrix(file: Path) -> Matrix:
    """Return the matrix of a CSV file; raise Problem or DataSetError where it is none."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            return confusion.read(lines, str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"{file} cannot be read: {error}", "Name a CSV file.") from None


def findings(matrix: Matrix, below: float = WEAK) -> Iterator[str]:
    """Yield what a matrix says of the data, as sentences."""
    if matrix.empty:
        yield f"not evaluated, for no label has it: {', '.join(matrix.empty)}"
    if weak := [f"{name} {matrix.recall[name]:.2f}" for name in matrix.weak(below)]:
        yield f"recall below {below:g}: {', '.join(weak)}"
    if (correlation := matrix.rank_correlation) is not None:
        yield f"rank correlation of labelled and recall: {correlation:+.2f} (1: what is frequent is recognised)"
