"""Shares of classes."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from core.datasets.card import CARDS
from core.datasets.catalogue import CatalogueError
from tests.support.catalogues import catalogue_of
from toolkit.datasets.shares import rare, shares

CARD = CARDS["a2d2"]
IMAGES = [
    f"20181107_133445/camera/cam_rear_center/20181107133445_camera_rearcenter_{number:09d}.png" for number in (1, 2)
]


class Answers:
    """A catalogue that gives one answer to every query."""

    def __init__(self, rows: Sequence[tuple[str, ...]]) -> None:
        self._rows = [*rows]

    def ask(self, sql: str) -> list[tuple[str, ...]]:  # noqa: ARG002 - the protocol's
        """Return the rows."""
        return self._rows


def test_shares_are_of_all_pixels(tmp_path: Path) -> None:
    """A class's share is of the pixels of all frames, also those that do not show it, and sizes may differ."""
    found = shares(
        catalogue_of(tmp_path / "c.db", CARD, {IMAGES[0]: {"car": 10, "sky": 90}, IMAGES[1]: {"sky": 300}}), CARD
    )
    assert len(found) == 38
    assert [(each.name, each.tag, each.frames, each.pixels, each.share) for each in found[:2]] == [
        ("Sky", "sky", 2, 390, 97.5),
        ("Car", "car", 1, 10, 2.5),
    ]
    assert {each.tag for each in rare(found, 2.6)} == {*CARD.class_tags} - {"sky"}


def test_numbers_with_decimals_count() -> None:
    """Numbers of a source that has them with decimals are read."""
    rows = [(tag, "2", "1", "5.0") for tag in CARD.class_tags]
    assert {each.pixels for each in shares(Answers(rows), CARD)} == {5}


def test_an_extractor_that_leaves_out_zeros() -> None:
    """Classes with different numbers of rows are refused: the share would not be of all frames."""
    rows = [(tag, "1" if tag == "sky" else "2", "1", "5") for tag in CARD.class_tags]
    with pytest.raises(CatalogueError, match=r"sky has 1 rows and \w+ has 2, .*write 0"):
        shares(Answers(rows), CARD)
    with pytest.raises(CatalogueError, match=r"no answer for the classes bicycle, .*correct the card"):
        shares(Answers(rows[:1]), CARD)
