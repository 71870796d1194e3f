"""Locks of data sets, and their lists of files."""

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from core.datasets import lock
from core.datasets.lock import Chosen, Lock
from core.errors import DataSetError
from toolkit.datasets import file_list
from toolkit.datasets.file_list import File

PATHS = st.text(st.characters(exclude_characters="\t\n\r\0", exclude_categories=["Cs"]), min_size=1)
FILES = st.dictionaries(PATHS, st.integers(0, 2**40)).map(lambda found: [File(*each) for each in found.items()])


def a_lock(**changes: Any) -> Lock:
    """Return a lock of two frames."""
    fields: dict[str, Any] = {
        "name": "night-bikes",
        "card": "a2d2",
        "query": "select path from frames",
        "source": "sqlite",
        "choice": {"cameras": ["front_center"]},
        "as_of": datetime(2026, 11, 25, 12, tzinfo=UTC),
        "frames": 2,
        "files": 4,
        "bytes": 400,
        "digest": "a" * 64,
        "frames_by_class": {"bicycle": 2, "car": 1},
    }
    return Lock(**{**fields, **changes})


@given(FILES, st.randoms())
def test_a_list_is_the_same_for_any_order(files: list[File], order: Any) -> None:
    """The list of files is sorted by the bytes of the paths, and reads back."""
    shuffled = [*files]
    order.shuffle(shuffled)
    listed = file_list.text(shuffled)
    assert listed == file_list.text(files)
    assert [*file_list.read(listed, "list")] == sorted(files, key=lambda each: each.path.encode())


def test_a_list_has_a_line_a_file() -> None:
    """A line is the path, a tab and the bytes; the digest is of exactly these bytes."""
    listed = file_list.text([File("/data/b b.png", 2), File("/data/a.png", 10)])
    assert listed == b"/data/a.png\t10\n/data/b b.png\t2\n"
    assert file_list.digest(listed) == hashlib.sha256(listed).hexdigest()


@pytest.mark.parametrize("path", ["a\tb.png", "a\nb.png", "a\r", ""])
def test_a_name_that_a_list_cannot_have_is_refused(path: str) -> None:
    """A path with a tab or a newline is named, with what to do."""
    with pytest.raises(DataSetError, match="rename the file") as error:
        file_list.text([File(path, 1)])
    assert repr(path) in str(error.value)


def test_a_file_is_listed_once() -> None:
    """Two files at the same path are refused."""
    with pytest.raises(DataSetError, match="'a' is chosen twice; correct the locations"):
        file_list.text([File("a", 1), File("a", 2)])


def test_a_broken_line_is_named() -> None:
    """A line that is not a path with bytes, or that was cut off, is refused by its number."""
    for second in (b"/data/b\n", b"/data/b\tx\n", b"/data/b\t1", b"\n"):
        with pytest.raises(DataSetError, match=r"night\.list:2: .* is not a line"):
            [*file_list.read(b"/data/a\t1\n" + second, "night.list")]


def test_a_lock_reads_back(tmp_path: Path) -> None:
    """What is written is read as the same lock, and is written as the same bytes."""
    half = Chosen(frames=1, files=2, bytes=200, digest="b" * 64, frames_by_class={"bicycle": 1, "car": 0})
    wanted = a_lock(splits={"train": half, "validation": half})
    file = tmp_path / "night-bikes.lock.json"
    file.write_text(lock.text(wanted))
    assert lock.read(file) == wanted
    assert lock.text(lock.read(file)) == lock.text(wanted)


@pytest.mark.parametrize(("field", "value"), [("frames", 3), ("query", "select 1"), ("seal", "0" * 64)])
def test_a_lock_edited_manually_is_refused(tmp_path: Path, field: str, value: object) -> None:
    """A lock whose content has another digest than its seal is refused, with the remedy."""
    file = tmp_path / "night-bikes.lock.json"
    file.write_text(json.dumps({**json.loads(lock.text(a_lock())), field: value}))
    with pytest.raises(DataSetError, match=r"night-bikes.lock.json: seal .* edited manually; .*hpc data select"):
        lock.read(file)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is missing; write it with `./hpc data select`"),
        ("{", "is not JSON"),
        ("[]", "is not a lock"),
        ('{"a": 1, "a": 2}', "a is given twice"),
    ],
)
def test_what_is_no_lock_is_refused(tmp_path: Path, content: str | None, message: str) -> None:
    """A file that is missing or holds something else is named, with the remedy."""
    file = tmp_path / "night-bikes.lock.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(DataSetError, match=message) as error:
        lock.read(file, "data/night-bikes.lock.json")
    assert "data/night-bikes.lock.json" in str(error.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"files": 1}, "files 1 are fewer than frames 2"),
        ({"frames_by_class": {"car": 3}}, "frames_by_class.car 3 is more than frames 2"),
        (
            {"splits": {"train": Chosen(frames=1, files=4, bytes=400, digest="b" * 64, frames_by_class={})}},
            "splits have 1 frames, and the set 2",
        ),
    ],
)
def test_counts_of_a_lock_agree(changes: dict[str, Any], message: str) -> None:
    """Numbers that contradict each other are refused."""
    with pytest.raises(ValidationError, match=message):
        a_lock(**changes)
