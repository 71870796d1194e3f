"""What is chosen of a catalogue: frames, their companions, splits and counts."""

import re
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets import lock
from core.datasets.catalogue import CatalogueError
from core.errors import DataSetError
from tests.toolkit.datasets.kit import A2D2, AS_OF, Row, a_choice, files_of, image, row, selected
from toolkit.datasets import file_list, query_results, selection, split

FRAMES = st.lists(
    st.tuples(st.integers(1, 6), st.dictionaries(st.sampled_from(["car", "bicycle"]), st.integers(0, 9))), min_size=1
)
HALVES = {"parts": {"train": 0.4, "validation": 0.6}}


def rows_of(frames: list[tuple[int, dict[str, int]]]) -> list[Row]:
    """Return rows for frames with their scene and pixels."""
    return [row(image(number, scene), pixels) for number, (scene, pixels) in enumerate(frames)]


@given(FRAMES, st.randoms(), st.none() | st.integers(1, 5))
def test_a_lock_is_the_same_for_any_order_of_rows(
    frames: list[tuple[int, dict[str, int]]], order: Any, most: int | None
) -> None:
    """Lock and lists are equal to the byte whatever the order of the catalogue's rows."""
    rows = rows_of(frames)
    choice = a_choice(most_frames=most)
    files = files_of(rows)
    shuffled, shuffled_files = [*rows], [*files]
    order.shuffle(shuffled)
    order.shuffle(shuffled_files)
    one = selection.select(choice, A2D2, rows, files, AS_OF)
    other = selection.select(choice, A2D2, shuffled, shuffled_files, AS_OF)
    assert lock.text(one.lock) == lock.text(other.lock)
    assert one.lists == other.lists


@given(FRAMES.filter(lambda frames: len({scene for scene, _ in frames}) > 3))
def test_splits_share_no_scene(frames: list[tuple[int, dict[str, int]]]) -> None:
    """Every file is in exactly one split, and every scene, too."""
    found = selected(a_choice(split=HALVES), rows_of(frames))
    parts = [[*file_list.read(found.lists[name], name)] for name in HALVES["parts"]]
    assert sorted(chain.from_iterable(parts)) == sorted(file_list.read(found.lists[""], "all"))
    train, validation = ({file.path.split("/")[0] for file in part} for part in parts)
    assert not train & validation


def test_a_lock_has_what_was_chosen() -> None:
    """Frames, files with their companions, bytes, classes, time and settings are in the lock."""
    rows = [row(image(1, 1), {"car": 5, "sky": 7}), row(image(2, 2), {"sky": 9})]
    found = selected(a_choice(locations={"IBM COS/a2d2": "cache/a2d2"}), rows)
    made = found.lock
    assert (made.frames, made.files, made.bytes) == (2, 6, 2 * 120)
    assert {name: count for name, count in made.frames_by_class.items() if count} == {"car": 1, "sky": 2}
    assert (made.pixels_by_class["sky"], len(made.frames_by_class)) == (16, 38)
    assert made.as_of == datetime(2026, 11, 25, 12, tzinfo=UTC)
    assert made.digest == file_list.digest(found.lists[""])
    first = next(file_list.read(found.lists[""], "list"))
    assert (first.path, first.size) == ("cache/a2d2/" + A2D2.naming.companions(image(1))["info"], 10)


def test_rare_classes_come_first_into_a_subset() -> None:
    """Of more frames than wanted those with a class of at_least are taken first, and the rest at random."""
    rows = [row(image(number, number % 7), {"bicycle": int(number in (3, 50))}) for number in range(100)]
    found = selected(a_choice(at_least={"bicycle": 2}, most_frames=10), rows).lock
    assert (found.frames, found.frames_by_class["bicycle"]) == (10, 2)


def test_the_greatest_scores_come_into_a_subset() -> None:
    """With scores the frames that a model is least sure of are taken; one without a score is refused."""
    rows = [row(image(number), {"car": 1}) for number in range(6)]
    given = {image(number): float(number % 4) for number in range(6)}
    choice = a_choice(most_frames=2, scores="data/scores.csv")
    found = selection.select(choice, A2D2, rows, files_of(rows), AS_OF, scores=given)
    paths = {file.path for file in file_list.read(found.lists[""], "list")}
    assert {image(3), image(2)} <= paths
    del given[image(1)]
    with pytest.raises(DataSetError, match=r"scores: 1 frame has none, e\.g\. .*000000001\.png"):
        selection.select(choice, A2D2, rows, files_of(rows), AS_OF, scores=given)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a.png,high\nb.png,high", "s.csv:2: 'b.png,high' is not"),
        ("a.png,nan", "s.csv:1: 'a.png,nan' is not"),
        ("image,score\na.png,1\na.png,2", "s.csv:3: 'a.png' is given twice"),
        ("a.png", "s.csv:1: 'a.png' is not"),
    ],
)
def test_what_is_no_score_is_refused(text: str, message: str) -> None:
    """A line that is not a path with a number is named; a first line may have titles."""
    assert query_results.read_scores(["image,uncertainty", "a.png,0.5"], "s.csv") == {"a.png": 0.5}
    with pytest.raises(DataSetError, match=re.escape(message)):
        query_results.read_scores(text.splitlines(), "s.csv")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"at_least": {"bicycle": 3, "car": 2}}, "night-bikes: at_least.bicycle 3, and 2 frames have it; widen the"),
        ({"at_least": {"bicycle": 2, "sky": 2}, "most_frames": 3}, "at_least needs 4 frames, and most_frames is 3"),
        (
            {"split": {"parts": {"a": 0.5, "b": 0.5}, "at_least": {"b": {"bicycle": 2}}}},
            "night-bikes: split.at_least.b.bicycle 2, and 1 frame has it; widen",
        ),
        ({"split": {"parts": {"a": 0.1, "b": 0.1, "c": 0.8}}}, r"split\.parts\.. 0\.\d: no scene is left"),
        ({"locations": {"NFS/a2d2": "nfs"}}, "locations: frames are in IBM COS/a2d2, and only NFS/a2d2 has a folder"),
    ],
)
def test_what_cannot_be_met_is_refused(changes: dict[str, Any], message: str) -> None:
    """Minimum counts, splits and locations that the catalogue does not meet are named with what it has."""
    pixels = [{"bicycle": 1, "car": 1}, {"bicycle": 1, "car": 1}, {"sky": 1}, {"sky": 1}]
    rows = [row(image(number, number % 2), each) for number, each in enumerate(pixels)]
    with pytest.raises(DataSetError, match=message):
        selected(a_choice(**changes), rows)


def test_a_frame_without_label_is_refused() -> None:
    """An image whose label is not a file of the catalogue is named, and so is one whose pixels are not known."""
    rows = [row(image(1), {"car": 1})]
    with pytest.raises(DataSetError, match=r"000000001\.png' has no label: .*/label/.* add the file and index"):
        selection.select(a_choice(), A2D2, rows, rows, AS_OF)
    with pytest.raises(DataSetError, match="pixels of car are '' in the catalogue, and no number"):
        selected(a_choice(), [(*rows[0][:5], "", *rows[0][6:])])


def test_what_a_catalogue_must_not_have_is_refused() -> None:
    """No frame at all, images of another name, records that are cut off or twice there, and other bases are named."""
    good = row(image(1), {})
    for rows, message in (
        ([], "no frame of the catalogue fits"),
        ([row("scene/photo.png", {})], "'scene/photo.png' of IBM COS/a2d2 is not named as an image of card a2d2"),
        ([good[:7]], "has 7 values"),
        ([good, good], "is in the catalogue twice"),
        ([good, row(image(1), {}, ("S3", "a2d2"))], "frames are in IBM COS/a2d2 and in S3/a2d2"),
    ):
        with pytest.raises((DataSetError, CatalogueError), match=message):
            selection.select(a_choice(), A2D2, rows, files_of([good, row(image(1), {}, ("S3", "a2d2"))]), AS_OF)
    with pytest.raises(DataSetError, match="time 'yesterday' is none"):
        selection.select(a_choice(), A2D2, [good], files_of([good]), "yesterday")


def test_a_list_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list beyond the limit is refused with its size and the remedy."""
    monkeypatch.setattr(selection, "LARGEST_LIST", 100)
    with pytest.raises(DataSetError, match=r"list of 3 files has \d+ bytes, and at most 100 .*set most_frames"):
        selected(a_choice(), [row(image(1), {})])


def test_scenes_meet_the_shares() -> None:
    """Whole scenes come near to the shares, and the order of the shares does not matter."""
    scenes = {f"scene-{number}": 10 + number for number in range(20)}
    found = split.parts(scenes, {"train": 0.4, "validation": 0.6})
    assert found == split.parts(dict(reversed(scenes.items())), {"validation": 0.6, "train": 0.4})
    share = sum(frames for scene, frames in scenes.items() if found[scene] == "train") / sum(scenes.values())
    assert abs(share - 0.4) < 0.03
