"""A confusion matrix in the page: rows as labelled, columns as recognised, colours on a logarithmic scale."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from toolkit.evidence.report.tables import Markup, element, joined

CELL, LETTER, ROOM = 15, 6.2, 8
"""Units of the drawing: a cell's side, the width of a letter at most, and room beside labels."""
_FAINTEST = 0.1
"""Opacity of a single count: zero has no colour at all."""


class ConfusionMatrix(NamedTuple):
    """Counts by row and column, both in the order of `classes`; `notes` is what follows from them."""

    classes: Sequence[str]
    cells: Sequence[Sequence[int]]
    notes: Sequence[str] = ()


def section(of: ConfusionMatrix | None, stamp: str) -> Markup | None:
    """Return drawing and notes; None where there is no matrix. `stamp` is written below."""
    if of is None:
        return None
    key = (
        "Rows are the labelled classes, columns the recognised ones; stronger colours are higher counts, on a "
        "logarithmic scale. Classes with an empty row were not evaluated."
    )
    notes = element("ul", *(element("li", note) for note in of.notes)) if of.notes else None
    # Cells of a small matrix are no larger than those of a large one.
    widest = f"max-width:{(_margin(of) + CELL * len(of.classes)) / 9:.0f}rem"
    return joined(element("p", key, class_="muted"), element("figure", _drawing(of, stamp), style=widest), notes)


def _margin(of: ConfusionMatrix) -> float:
    return max(map(len, of.classes)) * LETTER + ROOM


def _drawing(of: ConfusionMatrix, stamp: str) -> Markup:
    margin = _margin(of)
    side = CELL * len(of.classes)
    width, height = margin + side + ROOM, margin + side + 3 * ROOM
    middle = {"dominant_baseline": "central", "class_": "small"}
    pieces = [element("rect", x=f"{margin:g}", y=f"{margin:g}", width=side, height=side, class_="numa")]
    for place, name in enumerate(of.classes):
        at = f"{margin + CELL * (place + 0.5):g}"
        end = f"{margin - ROOM / 2:g}"
        pieces.append(element("text", name, x=end, y=at, text_anchor="end", **middle))
        pieces.append(element("text", name, x=at, y=end, transform=f"rotate(-90 {at} {end})", **middle))
    pieces += _cells(of, margin)
    pieces.append(element("text", stamp, x=f"{width - 2:g}", y=f"{height - ROOM:g}", text_anchor="end", **middle))
    empty = [name for name, row in zip(of.classes, of.cells, strict=True) if not any(row)]
    label = f"Confusion matrix of {len(of.classes)} classes; empty rows: {', '.join(empty) or 'none'}"
    return element("svg", *pieces, viewBox=f"0 0 {width:g} {height:g}", role="img", class_="map", aria_label=label)


def _cells(of: ConfusionMatrix, margin: float) -> Iterator[Markup]:
    most = max((max(row, default=0) for row in of.cells), default=0)
    for down, (labelled, row) in enumerate(zip(of.classes, of.cells, strict=True)):
        for across, (recognised, count) in enumerate(zip(of.classes, row, strict=True)):
            if count:
                yield element(
                    "rect",
                    element("title", f"{labelled} recognised as {recognised}: {count:,}"),
                    x=f"{margin + CELL * across:g}",
                    y=f"{margin + CELL * down:g}",
                    width=CELL - 1,
                    height=CELL - 1,
                    style=f"fill:var(--s1);fill-opacity:{opacity(count, most):.2f}",
                )


def opacity(count: int, most: int) -> float:
    """Return how strong the colour of a count is, from `_FAINTEST` to 1 for the greatest, by its logarithm."""
    return 1.0 if most <= 1 else _FAINTEST + (1 - _FAINTEST) * math.log(count) / math.log(most)
