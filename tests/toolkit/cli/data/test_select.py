"""`./hpc data select`, `list` and `publish`: from settings and a catalogue to a lock, and to lists on a volume."""

import re
from pathlib import Path

import pytest

from core.datasets import lock
from core.errors import UserError
from tests.support.catalogues import catalogue_of
from tests.support.commands import finished
from tests.toolkit.cli.data.kit import HALVES, Change
from tests.toolkit.datasets.kit import A2D2, image
from toolkit.cli.data import list as listing
from toolkit.cli.data import publish, select
from toolkit.cli.data.list import Format
from toolkit.cli.shared.errors import Problem
from toolkit.datasets import file_list
from toolkit.datasets.file_list import File

LOCK = Path("data", "bikes.lock.json")


def run(*arguments: str) -> str:
    """Select data set bikes of stack lab, and return what is printed."""
    status, text = finished(select.command, "bikes", "--stack", "lab", *arguments)
    assert status == 0
    return text


def refused(expected: str) -> None:
    """Assert that nothing is selected, with a message."""
    with pytest.raises(UserError, match=expected):
        run()


def test_a_lock_and_its_lists_are_written(change: Change, tmp_path: Path) -> None:
    """Frames that fit are locked with their companions; the list has the lock's digest, and so has that of a split."""
    change(split=HALVES)
    text = run()
    made = lock.read(tmp_path / LOCK)
    assert (made.frames, made.files) == (4, 12)
    assert "data/bikes.lock.json: 4 frames, 12 files, 12,120 bytes, as of 2020-09-25T20:27:37+00:00" in text
    assert "- train: 2 frames, 6 files, " in text
    lists = {each.name: file_list.digest(each.read_bytes()) for each in (tmp_path / "data").glob("*.list")}
    assert lists == {
        "bikes.list": made.digest,
        "bikes.train.list": made.splits["train"].digest,
        "bikes.validation.list": made.splits["validation"].digest,
    }


def test_a_second_selection_says_what_changed(change: Change, tmp_path: Path) -> None:
    """The same selection gives the same bytes; another one is compared, and leaves no list of a split that is gone."""
    change(split=HALVES)
    run()
    first = (tmp_path / LOCK).read_bytes()
    assert "as before" in run()
    assert (tmp_path / LOCK).read_bytes() == first
    change(pixels={"sky": [100, None]})
    text = run()
    assert "! data set bikes has no frame any more with bicycle" in text
    assert "- data set bikes is chosen by other pixels and split" in text
    assert [each.name for each in (tmp_path / "data").glob("*.list")] == ["bikes.list"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"at_least": {"bicycle": 5}}, "at_least.bicycle 5, and 4 frames have it"),
        ({"pixels": {"truck": [1, None]}}, "no frame of the catalogue fits"),
        ({"source": {"kind": "sqlite", "path": "data/none.sqlite"}}, "none.sqlite does not exist; name a catalogue"),
        ({"cameras": ["rear"]}, "'rear' is none of card a2d2"),
    ],
)
def test_nothing_is_written_where_it_cannot_be_met(
    change: Change, tmp_path: Path, changes: dict[str, object], expected: str
) -> None:
    """An error leaves an earlier lock and its list as they were."""
    run()
    before = {each: each.read_bytes() for each in (tmp_path / "data").iterdir()}
    change(**changes)
    refused(expected)
    assert {each: each.read_bytes() for each in (tmp_path / "data").iterdir()} == before


def test_a_catalogue_that_is_older_than_its_files_is_refused(change: Change, tmp_path: Path) -> None:
    """Files that changed since they were indexed are named; --allow-stale takes the catalogue as it is."""
    change()
    folder = tmp_path / "files"
    for each in (image(1, 1), A2D2.naming.companions(image(1, 1))["label"]):
        (folder / each).parent.mkdir(parents=True)
        (folder / each).write_bytes(b"")
    catalogue_of(tmp_path / "data" / "a2d2.sqlite", A2D2, {image(1, 1): {"bicycle": 1}}, folder=str(folder))
    refused(r"a2d2\.sqlite is older than the files of .*files: ")
    assert not (tmp_path / LOCK).exists()
    assert "1 frame, 3 files" in run("--allow-stale")


def test_scores_are_a_file_of_the_project(change: Change, tmp_path: Path) -> None:
    """Frames with the greatest scores are selected; a file that is not there is named."""
    change(scores="data/scores.csv", most_frames=1)
    refused(r"scores: data/scores\.csv cannot be read")
    (tmp_path / "data" / "scores.csv").write_text("".join(f"{image(n, n)},{n}\n" for n in range(1, 9)))
    run()
    assert image(7, 7) in (tmp_path / "data" / "bikes.list").read_text()


@pytest.mark.usefixtures("change")
def test_an_unknown_data_set_is_refused() -> None:
    """A name that the stack lacks is refused with those that it has."""
    with pytest.raises(Problem, match="stack lab has no data set 'cars'; it has bikes of training"):
        finished(select.command, "cars", "--stack", "lab")
    with pytest.raises(Problem, match="no data set 'bikes' of vision; it has bikes of training"):
        finished(select.command, "bikes", "--stack", "lab", "--tenant", "vision")


@pytest.mark.usefixtures("change")
def test_the_list_is_printed_for_each_tool() -> None:
    """Paths are relative to the volume, and fully qualified for mmafmctl."""
    run()
    status, text = finished(listing.command, "bikes", "--stack", "lab")
    assert status == 0
    assert text.splitlines()[1] == image(1, 1)
    _, text = finished(listing.command, "bikes", "--stack", "lab", "--format", "mmafmctl", "--root", "/gpfs/fs1/pvc-1")
    assert text.splitlines()[1] == f"/gpfs/fs1/pvc-1/{image(1, 1)}"
    _, cos = finished(listing.command, "bikes", "--stack", "lab", "--format", "mmafmcosctl")
    assert len(cos.splitlines()) == 12
    with pytest.raises(Problem, match=r"--root None: .* storage nodes have volume sets is not in the settings"):
        finished(listing.command, "bikes", "--stack", "lab", "--format", "mmafmctl")


def test_a_list_that_is_not_the_locks_is_refused(change: Change, tmp_path: Path) -> None:
    """A list that is missing or has another digest is refused, and so is a lock of other settings."""
    run()
    file = tmp_path / "data" / "bikes.list"
    file.write_text("other\t1\n")
    with pytest.raises(Problem, match=r"bikes\.list has the digest .* "):
        finished(listing.command, "bikes", "--stack", "lab")
    file.unlink()
    with pytest.raises(Problem, match=r"bikes\.list is missing: lists are not committed"):
        finished(listing.command, "bikes", "--stack", "lab")
    with pytest.raises(Problem, match="bikes has no split 'train'"):
        finished(listing.command, "bikes", "--stack", "lab", "--split", "train")
    change(pixels={"car": [1, None]})
    with pytest.raises(Problem, match=r"data/bikes\.lock\.json was selected with other pixels"):
        finished(listing.command, "bikes", "--stack", "lab")


def test_names_that_a_tool_does_not_take_are_refused() -> None:
    """A name with a blank is printed plainly, and refused for AFM's commands, which take it from a policy alone."""
    files = [File("a b.png", 1)]
    assert [*listing.written(files, Format.PLAIN, "")] == ["a b.png"]
    for form in (Format.MMAFMCTL, Format.MMAFMCOSCTL):
        with pytest.raises(Problem, match=re.escape(f"'a b.png' has characters that {form}")):
            [*listing.written(files, form, "/gpfs")]


def publish_into(folder: Path) -> str:
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
    publish_into(volume)
    wanted = {made.digest, *(part.digest for part in made.splits.values())}
    lists = {file.stem: file.read_bytes() for file in (volume / ".hpc/lists").iterdir()}
    assert lists.keys() == wanted
    assert all(file_list.digest(content) == digest for digest, content in lists.items())


def test_another_folder_is_refused(change: Change, tmp_path: Path) -> None:
    """A folder without the files is not the volume's root, and nothing is written."""
    change()
    assert finished(select.command, "bikes", "--stack", "lab")[0] == 0
    with pytest.raises(Problem, match=r"has no .*camera.*, the first file of the list"):
        publish_into(tmp_path / "elsewhere")
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
        publish_into(volume)
