"""A confusion matrix of an evaluation: what it shows of the data that a network was trained on.

A row is a class as labelled, a column as recognised; a cell is the number of pixels, or objects. A class whose row is
empty was not evaluated at all: there is no frame with it. The paper's network recognises well what has many pixels.
"""

import csv
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.errors import DataSetError

_SAME = 2
"""Values from which on a correlation has a meaning at all."""


@dataclass(frozen=True)
class Matrix:
    """Cells by row and column, both in the order of `classes`."""

    classes: tuple[str, ...]
    cells: tuple[tuple[int, ...], ...]

    @property
    def labelled(self) -> Mapping[str, int]:
        """Pixels, or objects, that are labelled with each class."""
        return {name: sum(row) for name, row in zip(self.classes, self.cells, strict=True)}

    @property
    def empty(self) -> tuple[str, ...]:
        """Classes that nothing is labelled with."""
        return tuple(name for name, number in self.labelled.items() if number == 0)

    @property
    def recall(self) -> Mapping[str, float]:
        """Share of what is labelled with a class that is recognised as it, 0 to 1; without empty classes."""
        labelled = self.labelled
        return {
            name: self.cells[index][index] / labelled[name]
            for index, name in enumerate(self.classes)
            if labelled[name] > 0
        }

    def weak(self, below: float) -> tuple[str, ...]:
        """Return the classes with a recall below a bound, the weakest first; empty ones are none."""
        weak_classes = [(recall, name) for name, recall in self.recall.items() if recall < below]
        return tuple(name for _, name in sorted(weak_classes))

    @property
    def rank_correlation(self) -> float | None:
        """Spearman's rank correlation of a class's labelled number and its recall, -1 to 1.

        None where fewer than three classes are labelled, or all are equal.
        """
        recall = self.recall
        if len(recall) <= _SAME:
            return None
        labelled, recalled = _ranks([self.labelled[name] for name in recall]), _ranks([*recall.values()])
        try:
            return statistics.correlation(labelled, recalled)
        except statistics.StatisticsError:
            return None


def _ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value; equal ones share the mean of theirs."""
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values)):
        places.setdefault(value, []).append(place)
    return [statistics.fmean(places[value]) for value in values]


def read(lines: Iterable[str], source: str) -> Matrix:
    """Return the matrix in a CSV file; raise DataSetError, naming `source`, where it is none.

    The first line has the classes after an empty or a titled cell, and every other line begins with its class.
    """
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines) if any(cell.strip() for cell in row)]
    if len(rows) <= 1:
        raise DataSetError(f"{source}: no matrix; write a line of classes, and a line for each class")
    classes = tuple(rows[0][1:])
    if twice := sorted({name for name in classes if classes.count(name) > 1}):
        raise DataSetError(f"{source}:1: {twice[0]!r} is given twice; give each class one column")
    names = tuple(row[0] for row in rows[1:])
    if names != classes:
        differing = next((name for name in (*names, *classes) if (name in names) != (name in classes)), None)
        what = f"{differing!r} is in the rows or in the columns alone" if differing else "their orders differ"
        raise DataSetError(f"{source}: rows and columns must have the same classes, and {what}; correct it")
    return Matrix(classes, tuple(_cells(row[1:], len(classes), f"{source}, {row[0]}") for row in rows[1:]))


def _cells(row: Sequence[str], number: int, place: str) -> tuple[int, ...]:
    if len(row) != number:
        raise DataSetError(f"{place}: {len(row)} cells, and there are {number} classes; write one for each")
    for cell in row:
        if not cell.isdecimal():
            raise DataSetError(f"{place}: {cell!r} is not a count; write whole numbers of pixels, 0 or more, no shares")
    return tuple(map(int, row))


def proposal(matrix: Matrix, frames: Mapping[str, int], *, below: float, least: int) -> Mapping[str, int]:
    """Return a minimum number of frames for each class that was not evaluated or is weak.

    It is twice what the set has, `frames`, and `least` where that is more. The number is a proposal: how many a network
    needs is known only after it was trained again.
    """
    return {name: max(least, 2 * frames.get(name, 0)) for name in (*matrix.empty, *matrix.weak(below))}


def renamed(matrix: Matrix, canonical: Mapping[str, str], source: str) -> Matrix:
    """Return the matrix with the class names of a card; `canonical` has them by the names that evaluations may use.

    Raises DataSetError for a class that the card does not have.
    """
    if unknown := [name for name in matrix.classes if name not in canonical]:
        classes = ", ".join(sorted({*canonical.values()}))
        raise DataSetError(f"{source}: {unknown[0]!r} is not a class of the card: {classes}; correct it")
    return Matrix(tuple(canonical[name] for name in matrix.classes), matrix.cells)
