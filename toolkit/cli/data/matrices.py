"""Confusion matrices of evaluations, for the commands that show them."""

from collections.abc import Iterator
from pathlib import Path

from toolkit.cli.shared.errors import Problem
from toolkit.datasets import confusion
from toolkit.datasets.confusion import Matrix

WEAK = 0.5
"""Recall below which a class is weak, where nothing else is given."""


def read(file: Path) -> Matrix:
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
