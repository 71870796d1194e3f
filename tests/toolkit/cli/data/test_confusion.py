"""`./hpc data confusion`: what a confusion matrix says of the data."""

import json
from pathlib import Path

import pytest

from core.errors import DataSetError
from tests.support.commands import finished
from toolkit.cli.data import confusion, select
from toolkit.cli.shared.errors import Problem

MATRIX = "labelled,Sky,car,Bicycle\nSky,900,100,0\ncar,60,40,0\nBicycle,0,0,0\n"

CARD = ("--card", "a2d2")


@pytest.fixture
def matrix(tmp_path: Path) -> str:
    """Return the path of a matrix with a weak class and an empty one."""
    file = tmp_path / "matrix.csv"
    file.write_text(MATRIX)
    return str(file)


def test_weak_and_empty_classes(matrix: str) -> None:
    """Classes are named with their recall, and minimum counts are proposed in the form of the settings."""
    status, text = finished(confusion.command, matrix, "--least", "50", *CARD)
    assert status == 0
    assert "bicycle" in text
    assert "not evaluated: no label has it" in text
    assert "at_least: {bicycle: 50, car: 50}" in text


@pytest.mark.usefixtures("change")
def test_the_proposal_knows_what_the_set_has(matrix: str) -> None:
    """With a data set it is twice the frames of its lock, where that is more."""
    finished(select.command, "bikes", "--stack", "lab")
    named = ("--data-set", "bikes", "--stack", "lab")
    found = json.loads(finished(confusion.command, matrix, *named, "--least", "5", "--json")[1])
    assert found["at_least"] == {"bicycle": 8, "car": 8}
    assert found["empty"] == ["bicycle"]
    assert found["weak"] == ["car"]


def test_what_is_no_matrix_is_refused(matrix: str, tmp_path: Path) -> None:
    """A missing file, a class that the card lacks, and a broken matrix are named."""
    with pytest.raises(Problem, match=r"none\.csv cannot be read"):
        finished(confusion.command, str(tmp_path / "none.csv"), *CARD)
    Path(matrix).write_text(MATRIX.replace("Bicycle", "Zeppelin"))
    with pytest.raises(DataSetError, match="'Zeppelin' is not a class of the card: animals, bicycle, "):
        finished(confusion.command, matrix, *CARD)
    Path(matrix).write_text(MATRIX.replace("900", "0.9"))
    with pytest.raises(DataSetError, match=r"matrix\.csv, Sky: '0\.9' is not a count"):
        finished(confusion.command, matrix, *CARD)


def test_the_card_or_a_data_set_is_named(matrix: str) -> None:
    """Without a card and without a data set the command says how to name one."""
    with pytest.raises(Problem, match="card of the matrix is not given") as error:
        finished(confusion.command, matrix)
    assert "--data-set" in str(error.value)
