"""`./hpc data publish`: the lists of a data set on its volume."""

from pathlib import Path

import pytest

from core.datasets import lock
from tests.support.commands import finished
from tests.toolkit.cli.data.kit import HALVES, Change
from toolkit.cli.data import publish, select
from toolkit.cli.shared.errors import Problem
from toolkit.datasets import file_list


def run(folder: Path) -> str:
    """Publish the lists of data set bikes of stack lab, and return what is printed."""
    status, text = finished(publish.command, "bikes", str(folder), "--stack", "lab")
    assert status == 0
    return text


def fill(folder: Path, listed: bytes) -> None:
    """Make the files of a list, empty."""
    for path, _ in file_list.read(listed, "list"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()


def test_each_list_is_where_pods_look_for_it(change: Change, tmp_path: Path) -> None:
    """The set's list and those of its splits are below the volume's root, each named after its digest."""
    change(split=HALVES)
    assert finished(select.command, "bikes", "--stack", "lab")[0] == 0
    made = lock.read(tmp_path / "data/bikes.lock.json")
    volume = tmp_path / "volume"
    fill(volume, (tmp_path / "data/bikes.list").read_bytes())
    run(volume)
    wanted = {made.digest, *(part.digest for part in made.splits.values())}
    lists = {file.stem: file.read_bytes() for file in (volume / ".hpc/lists").iterdir()}
    assert lists.keys() == wanted
    assert all(file_list.digest(content) == digest for digest, content in lists.items())


def test_another_folder_is_refused(change: Change, tmp_path: Path) -> None:
    """A folder without the files is not the volume's root, and nothing is written."""
    change()
    assert finished(select.command, "bikes", "--stack", "lab")[0] == 0
    with pytest.raises(Problem, match=r"has no .*camera.*, the first file of the list"):
        run(tmp_path / "elsewhere")
    assert not (tmp_path / "elsewhere").exists()


def test_a_list_that_is_another_is_refused(change: Change, tmp_path: Path) -> None:
    """A list that does not have the lock's digest is not published."""
    change()
    assert finished(select.command, "bikes", "--stack", "lab")[0] == 0
    listed = tmp_path / "data/bikes.list"
    volume = tmp_path / "volume"
    fill(volume, listed.read_bytes())
    listed.write_bytes(listed.read_bytes() + b"more.png\t1\n")
    with pytest.raises(Problem, match="has the digest"):
        run(volume)
