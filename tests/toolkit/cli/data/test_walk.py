"""The walk of docs/guide/data.md, on the generated data set: from labels to a lock, and on to a better one."""

import json
import re
import shutil
from pathlib import Path

import pytest

from core.datasets import lock
from core.errors import DataSetError
from stacks.loading import locks, settings
from tests.support.catalogues import generated_catalogue
from tests.support.commands import finished
from tests.toolkit.cli.data.kit import HALVES, Change
from toolkit.cli.data import confusion, diff, drift, select, stats
from toolkit.cli.data import list as listing

NAMED = ("bikes", "--stack", "lab")


def test_the_walk(change: Change, tmp_path: Path) -> None:
    """Index, stats, select, preview, diff, confusion and a better selection follow from each other."""
    catalogue = tmp_path / "data" / "a2d2.sqlite"
    catalogue.unlink()
    generated_catalogue(catalogue)
    assert "rd_normal_street" in finished(stats.command, str(catalogue))[1]

    locations = {"IBM COS/a2d2": "a2d2"}
    change(pixels={"bicycle": [3000, None]}, locations=locations, split=HALVES)
    finished(select.command, *NAMED)
    first = str(shutil.copy(tmp_path / "data" / "bikes.lock.json", tmp_path / "before.lock.json"))
    before = lock.read(Path(first))
    assert before.frames_by_class["bicycle"] == before.frames == 9
    assert finished(listing.command, *NAMED)[1].startswith("a2d2/camera_lidar_semantic/")
    # What a preview does: it reads the lock, and no catalogue.
    catalogue.rename(tmp_path / "away.sqlite")
    assert [*locks.read(settings.load("lab", tmp_path), tmp_path)] == [("training", "bikes")]
    (tmp_path / "away.sqlite").rename(catalogue)

    matrix = tmp_path / "matrix.csv"
    matrix.write_text("labelled,sky,bicycle,car\nsky,900,0,0\nbicycle,0,0,0\ncar,0,9,90\n")
    evaluated = finished(confusion.command, str(matrix), "--data-set", *NAMED, "--least", "12", "--json")[1]
    at_least = json.loads(evaluated)["at_least"]
    assert at_least == {"bicycle": 18}

    better = {"at_least": {"bicycle": 12}, "locations": locations, "split": HALVES}
    change(pixels={"bicycle": [3000, None]}, **better)
    with pytest.raises(DataSetError, match=re.escape("at_least.bicycle 12, and 9 frames have it; widen the windows")):
        finished(select.command, *NAMED)
    change(pixels={"bicycle": [1, None]}, **better)
    finished(select.command, *NAMED)
    text = finished(diff.command, first, str(tmp_path / "data" / "bikes.lock.json"))[1]
    assert "data set bikes has 14 frames (was 9)" in text
    assert "bicycle: 14 (was 9, +56%)" in text
    assert finished(drift.command, *NAMED, "--bound", "0.2")[0] == 0
