"""Data sets in `./hpc hardware show`."""

from typing import Any

import pytest

from stacks.loading.settings import parse
from tests.stacks.kit import stack
from tests.support.data_sets import BIKES
from tests.toolkit.datasets.kit import a_choice, image, row, selected
from toolkit.cli.hardware.show import data

ROWS = [row(image(number, number), {"bicycle": 5, "car": number % 2}) for number in range(1, 5)]


def sections(**changes: Any) -> Any:
    """Return the sections of a stack whose tenant has a data set of four frames."""
    settings = parse(stack(BIKES | changes), "test")
    choice = a_choice(name="bikes", split={"parts": {"train": 0.5, "validation": 0.5}})
    return data.data(settings, {("training", "bikes"): selected(choice, ROWS).lock})


def test_a_set_is_planned_with_size_and_time() -> None:
    """Frames, bytes, the part of the volume, and the time at the link's speed are there."""
    (row_,) = sections(link_gbps=0.5)[0].rows
    assert (row_["frames"], row_["files"], row_["part of it, %"]) == (4, 12, "46.9")
    assert row_["to bring it near, s"] == "0 at 0.5 Gb/s"
    assert "at 1 Gb/s, 0 at 10 Gb/s" in sections()[0].rows[0]["to bring it near, s"]


def test_the_papers_set_takes_as_long_as_its_training() -> None:
    """92 GB take 736 s over the paper's network of 1 Gb/s, and 74 s over one of 10 Gb/s."""
    assert data.seconds(92 * 10**9, 1) == 736
    assert data.seconds(92 * 10**9, 10) == pytest.approx(73.6)


def test_a_set_that_takes_longer_to_bring_near_than_to_train_with() -> None:
    """The plan warns where link and training are known and the link is the slower one."""
    slow = {"link_gbps": 1e-8, "training_minutes": 1}
    (warning,) = (each for each in sections(**slow)[0].notes if each.startswith("warning: "))
    assert "to bring bikes near takes 384 s at 1e-08 Gb/s, longer than its training of 60 s" in warning
    for changes in ({"link_gbps": 1e-8}, {"link_gbps": 10, "training_minutes": 12}):
        assert not [each for each in sections(**changes)[0].notes if each.startswith("warning: ")]


def test_frames_by_class_of_set_and_splits() -> None:
    """Every class has a row with the frames of the set and of each split; classes without a frame are named."""
    sets, classes = sections()
    found = {each["class"]: each for each in classes.rows}
    assert len(found) == 38
    assert (found["bicycle"]["bikes"], found["bicycle"]["bikes/train"], found["car"]["bikes"]) == (4, 2, 2)
    assert any("bikes has no frame with pedestrian, " in note for note in sets.notes)
    assert any("bikes is split: train 2 (50 %), validation 2 (50 %) frames" in note for note in sets.notes)


def test_a_stack_without_data_sets_has_no_section() -> None:
    """Nothing is printed where there is nothing."""
    assert data.data(parse(stack(), "test"), {}) == ()
