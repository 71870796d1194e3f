"""`./hpc data diff` and `drift`: a lock compared with another one, and with all frames of its cameras."""

import json
from pathlib import Path

import pytest

from core.datasets import lock
from core.errors import DataSetError
from tests.support.catalogues import catalogue_of
from tests.support.commands import finished
from tests.toolkit.cli.data.kit import HALVES, Change
from tests.toolkit.datasets.kit import A2D2, Row, a_choice, image, row, selected
from toolkit.cli.data import diff, drift, select
from toolkit.cli.shared.errors import Problem

BEFORE = [row(image(1), {"car": 5}), row(image(2), {"bicycle": 1})]
AFTER = [row(image(1), {"car": 5}), row(image(3), {"car": 1}), row(image(4), {"sky": 1})]


def write(folder: Path, rows: list[Row], *, listed: bool = True) -> str:
    """Write a lock, and its list where it is wanted; return the lock's path."""
    folder.mkdir()
    found = selected(a_choice(), rows)
    (folder / "bikes.lock.json").write_text(lock.text(found.lock))
    if listed:
        (folder / "bikes.list").write_bytes(found.lists[""])
    return str(folder / "bikes.lock.json")


def test_classes_and_files_that_come_and_go(tmp_path: Path) -> None:
    """The text has frames, bytes, classes, and the files that come and go."""
    _, text = finished(diff.command, write(tmp_path / "a", BEFORE), write(tmp_path / "b", AFTER))
    assert "data set night-bikes has 3 frames (was 2), 360 bytes (was 240 bytes)" in text
    assert "  ! data set night-bikes has no frame any more with bicycle" in text
    assert "      bicycle: 0 (was 1)" in text
    assert "      car: 2 (was 1, +100%)" in text
    assert "6 files come, and 3 go" in text


def test_it_is_data_and_markdown(tmp_path: Path) -> None:
    """JSON has each class that changes, and Markdown is a section of a comment; without lists files are not counted."""
    locks = write(tmp_path / "a", BEFORE, listed=False), write(tmp_path / "b", AFTER)
    found = json.loads(finished(diff.command, *locks, "--json")[1])
    assert found["files"] is None
    assert found["parts"]["all"]["classes"]["car"] == {"before": 1, "after": 2}
    text = finished(diff.command, *locks, "--markdown")[1]
    assert text.startswith("### Data sets\n")
    assert "- ⚠️ data set `night-bikes` has no frame any more with `bicycle`" in text
    with pytest.raises(Problem, match="two forms of the same"):
        finished(diff.command, *locks, "--markdown", "--json")


def test_equal_locks(tmp_path: Path) -> None:
    """Equal locks are said to be equal, and a lock that was edited is refused."""
    path = write(tmp_path / "a", BEFORE)
    assert "both locks are equal" in finished(diff.command, path, path)[1]
    Path(path).write_text(Path(path).read_text().replace('"frames": 2', '"frames": 3'))
    with pytest.raises(DataSetError, match="edited manually"):
        finished(diff.command, path, path)


def test_the_distance_of_a_set_and_its_splits(change: Change) -> None:
    """Frames with a bicycle have more of it than all frames, and so has each split."""
    change(split=HALVES)
    finished(select.command, "bikes", "--stack", "lab")
    found = json.loads(finished(drift.command, "bikes", "--stack", "lab", "--json")[1])
    assert found["all"]["distance"] == pytest.approx(1 / 105 - 4 / 840)
    assert found["all"]["differences"]["bicycle"] == pytest.approx(1 / 105 - 4 / 840)
    assert {*found} == {"all", "train", "validation"}
    status, text = finished(drift.command, "bikes", "--stack", "lab")
    assert status == 0
    assert "bicycle +0.48 %" in text


@pytest.mark.usefixtures("change")
def test_a_bound_is_judged() -> None:
    """The exit status is 1 where a distance is beyond the bound, which names the parts."""
    finished(select.command, "bikes", "--stack", "lab")
    assert finished(drift.command, "bikes", "--stack", "lab", "--bound", "0.1")[0] == 0
    status, text = finished(drift.command, "bikes", "--stack", "lab", "--bound", "0.001")
    assert status == 1
    assert "all: beyond the bound 0.001; choose other windows or shares" in text


def test_a_catalogue_without_the_cameras_is_refused(tmp_path: Path, change: Change) -> None:
    """There is no distance from no frames."""
    change()
    finished(select.command, "bikes", "--stack", "lab")
    catalogue_of(tmp_path / "data" / "a2d2.sqlite", A2D2, {image(1, 1, "front_left"): {"sky": 1}})
    with pytest.raises(Problem, match="the catalogue has no frame of front_center"):
        finished(drift.command, "bikes", "--stack", "lab")
