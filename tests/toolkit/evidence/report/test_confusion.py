"""A confusion matrix in the page."""

import pytest

from tests.toolkit.evidence import samples
from toolkit.evidence.report import confusion
from toolkit.evidence.report.confusion import ConfusionMatrix
from toolkit.evidence.report.page import page

MATRIX = ConfusionMatrix(("sky", "car", "bicycle"), ((900, 9, 0), (1, 40, 0), (0, 0, 0)), ["bicycle is missing"])


def test_a_matrix_is_a_section_of_the_page() -> None:
    """Every count that is not zero is a cell with its words, and the empty rows are said."""
    text = page(samples.undrawn(samples.good()), None, MATRIX)
    assert '<h2 id="confusion">Confusion matrix</h2>' in text
    assert "Confusion matrix of 3 classes; empty rows: bicycle" in text
    assert "sky recognised as car: 9<" in text
    assert text.count(" recognised as ") == 4
    assert "<li>bicycle is missing</li>" in text
    assert 'id="confusion"' not in page(samples.undrawn(samples.good()))


def test_colours_are_logarithmic() -> None:
    """Ten times as much is as many steps darker everywhere, and a single count is seen."""
    assert confusion.opacity(1000, 1000) == 1
    assert confusion.opacity(1, 1000) == pytest.approx(0.1)
    assert confusion.opacity(10, 1000) - confusion.opacity(1, 1000) == pytest.approx(0.3)
    assert confusion.opacity(1, 1) == 1


def test_names_are_text() -> None:
    """A class's name is never read as a part of the page."""
    text = str(confusion.section(ConfusionMatrix(("<b>", "a"), ((1, 0), (0, 1))), "now"))
    assert "<b>" not in text
    assert "&lt;b&gt;" in text
