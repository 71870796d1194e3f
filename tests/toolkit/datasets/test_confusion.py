"""Confusion matrices of evaluations."""

import pytest

from core.errors import DataSetError
from toolkit.datasets import confusion

LINES = """\
labelled, sky, car, bicycle, pedestrian
sky, 900, 100, 0, 0
car, 10, 80, 0, 10

bicycle, 0, 0, 0, 0
pedestrian, 6, 2, 0, 2
""".splitlines()


def test_empty_rows_and_weak_classes_are_named() -> None:
    """A class that nothing is labelled with is empty, and not weak; the weakest class comes first."""
    found = confusion.read(LINES, "matrix.csv")
    assert found.empty == ("bicycle",)
    assert found.recall == {"sky": 0.9, "car": 0.8, "pedestrian": 0.2}
    assert found.weak(0.85) == ("pedestrian", "car")


def test_what_is_frequent_is_recognised() -> None:
    """The ranks of labelled pixels and of recall agree here, and are nothing where there are too few classes."""
    assert confusion.read(LINES, "matrix.csv").rank_correlation == pytest.approx(1)
    assert confusion.read(["x,a,b", "a,1,0", "b,0,1"], "matrix.csv").rank_correlation is None
    assert confusion.read(["x,a,b,c", "a,1,0,0", "b,0,1,0", "c,0,0,1"], "matrix.csv").rank_correlation is None


def test_minimum_counts_are_proposed_for_empty_and_weak_classes() -> None:
    """The proposal is twice what the set has, and the least number where that is more."""
    found = confusion.read(LINES, "matrix.csv")
    assert confusion.proposal(found, {"pedestrian": 300}, below=0.5, least=200) == {"bicycle": 200, "pedestrian": 600}


def test_classes_get_the_names_of_the_card() -> None:
    """Evaluations may print other names of classes; one that the card lacks is refused."""
    known = {"Car": "car", "Sky": "sky"}
    found = confusion.renamed(confusion.read(["x,Car,Sky", "Car,1,0", "Sky,0,1"], "matrix.csv"), known, "matrix.csv")
    assert found.classes == ("car", "sky")
    with pytest.raises(DataSetError, match=r"matrix\.csv: 'bicycle' .*car, sky.*correct"):
        confusion.renamed(confusion.read(["x,bicycle", "bicycle,1"], "matrix.csv"), known, "matrix.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no matrix; write a line of classes"),
        ("x,a,a\na,1,2\na,1,2", "'a' is given twice"),
        ("x,a,b\na,1,2", "'b' is in the rows or in the columns alone"),
        ("x,a,b\nb,1,2\na,1,2", "their orders differ"),
        ("x,a,b\na,1\nb,1,2", "m.csv, a: 1 cells, and there are 2 classes"),
        ("x,a,b\na,0.5,0.5\nb,1,2", "m.csv, a: '0.5' is not a count"),
        ("x,a\na,-1", "m.csv, a: '-1' is not a count"),
    ],
)
def test_what_is_no_matrix_is_refused(text: str, message: str) -> None:
    """A file that is not a square matrix of counts is named with what is wrong."""
    with pytest.raises(DataSetError, match=message):
        confusion.read(text.splitlines(), "m.csv")
