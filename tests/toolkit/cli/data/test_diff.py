"""`./hpc data diff`: two locks compared."""

import json
from pathlib import Path

import pytest

from core.datasets import lock
from core.errors import DataSetError
from tests.support.commands import finished
from tests.toolkit.datasets.kit import Row, a_choice, image, row, selected
from toolkit.cli.data import diff
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
