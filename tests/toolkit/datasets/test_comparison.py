"""Two choices compared."""

import pytest

from core.errors import DataSetError
from tests.toolkit.datasets.kit import a_choice, image, row, selected
from toolkit.datasets import comparison
from toolkit.datasets.comparison import CountChange

BEFORE = [row(image(1), {"car": 5}), row(image(2), {"car": 5, "bicycle": 1}), row(image(3), {"sky": 1})]
AFTER = [row(image(1), {"car": 5}), row(image(4), {"sky": 9}), row(image(5), {"sky": 9}), row(image(6), {"sky": 9})]


def test_classes_that_gain_and_lose_are_named() -> None:
    """Frames of each class are compared; a class without a frame left is named apart."""
    found = comparison.difference(selected(a_choice(), BEFORE).lock, selected(a_choice(), AFTER).lock)
    assert found.frames == CountChange(3, 4)
    assert found.bytes.by == 120
    assert found.gained == {"sky": CountChange(1, 3)}
    assert list(found.lost) == ["bicycle", "car"]
    assert found.vanished == ("bicycle",)
    assert not found.same_files


def test_the_greatest_changes_come_first() -> None:
    """Classes are ordered by what they lose or gain of what they had."""
    before = [row(image(number), {"car": 1, "bicycle": int(number < 2), "sky": int(number < 4)}) for number in range(8)]
    one, other = (selected(a_choice(), rows).lock for rows in (before, before[2:7]))
    assert list(comparison.difference(one, other).lost) == ["bicycle", "sky", "car"]
    assert list(comparison.difference(other, one).gained) == ["bicycle", "sky", "car"]


def test_other_files_with_the_same_numbers_differ() -> None:
    """Frames that are exchanged for others with the same classes are no difference of numbers, and of files."""
    one, other = ([row(image(number), {"car": 5})] for number in (1, 2))
    found = comparison.difference(selected(a_choice(), one).lock, selected(a_choice(), other).lock)
    assert (found.frames.by, found.classes, found.same_files) == (0, {}, False)


def test_splits_are_compared_by_name() -> None:
    """What both have of a split is compared beside the whole."""
    halves = a_choice(split={"parts": {"train": 0.5, "validation": 0.5}})
    rows = [row(image(number, number), {"car": 1}) for number in range(1, 5)]
    lock = selected(halves, rows).lock
    assert [name for name, _ in comparison.differences(lock, lock)] == ["", "train", "validation"]
    assert [name for name, _ in comparison.differences(selected(a_choice(), rows).lock, lock)] == [""]


def test_the_distance_of_distributions() -> None:
    """It is 0 for equal shares, 1 for classes of which none is in both, and half the sum of the differences."""
    assert comparison.total_variation({"a": 1, "b": 1}, {"a": 50, "b": 50}) == 0
    assert comparison.total_variation({"a": 1}, {"b": 7}) == 1
    assert comparison.total_variation({"a": 3, "b": 1}, {"a": 1, "b": 1}) == 0.25
    assert comparison.share_differences({"a": 3, "b": 1}, {"a": 1, "b": 1}) == {"a": 0.25, "b": -0.25}
    with pytest.raises(DataSetError, match="no pixels of any class"):
        comparison.shares({"a": 0})
