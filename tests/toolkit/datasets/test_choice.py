"""Choices of frames, as settings state them."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from core import project
from core.datasets import catalogue, choice
from core.datasets.card import CARDS
from tests.toolkit.datasets.kit import A2D2, a_choice, asked, image, row, view


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pixels": {"bicyle": [1, 2]}}, r"pixels: 'bicyle' is none of card a2d2; did you mean bicycle\?"),
        ({"pixels": {"Road blocks": [1, 2]}}, r"'Road blocks' .* did you mean road_blocks\?"),
        ({"at_least": {"zeppelin": 3}}, "at_least: 'zeppelin' is none of card a2d2; write one of car, bicycle"),
        ({"cameras": ["front"]}, "cameras: 'front' is none of card a2d2; did you mean front_"),
        ({"cameras": ["front_center"] * 2}, "cameras: front_center is given twice"),
        ({"card": "a2d"}, "card: 'a2d' is not a card; write one of a2d2"),
        ({"card": "cards/ours.yaml"}, "ours.yaml: cannot be read"),
        ({"pixels": {"car": [20000, 10000]}}, r"\[20000, 10000\] is empty.*swap the two"),
        ({"pixels": {"car": [2000000, None], "sky": [400000, None]}}, "begin at 2400000 pixels .* 2319360: no frame"),
        ({"pixels": {"car": [0, 0]}, "at_least": {"car": 5}}, "at_least.car 5, and pixels.car allows no frame"),
        ({"at_least": {"car": 5}, "most_frames": 4}, "at_least.car 5 is more than most_frames 4"),
        ({"scores": "data/scores.csv"}, "scores data/scores.csv, and most_frames is not given"),
        ({"split": {"parts": {"train": 0.4, "validation": 0.5}}}, "parts add up to 0.9; make them 1"),
        (
            {"split": {"parts": {"a": 0.4, "b": 0.6}, "at_least": {"c": {"car": 1}}}},
            "at_least: 'c' is none of parts: a, b",
        ),
        (
            {"split": {"parts": {"a": 0.4, "b": 0.6}, "at_least": {"a": {"cat": 1}}}},
            r"split.at_least.a: 'cat' is none of card a2d2; did you mean car\?",
        ),
        ({"locations": {"IBM COS/a2d2": "/gpfs/cache"}}, "is not below the volume's root"),
        ({"locations": {"IBM COS/a2d2": "../other"}}, "is not below the volume's root"),
        ({"name": "Night Bikes"}, "should match pattern"),
        ({"pixels": {"car; drop table metaocean": [1, 2]}}, "is none of card a2d2"),
    ],
)
def test_a_wrong_choice_is_refused(changes: dict[str, Any], message: str) -> None:
    """Unknown names, windows without a pixel and contradictions are refused with value and remedy."""
    with pytest.raises((ValidationError, ValueError), match=message):
        a_choice(**changes)


def test_the_query_is_that_of_the_names() -> None:
    """Cameras are words that are 1, and windows are bounds; an open one has no upper bound."""
    wanted = a_choice(pixels={"car": [10000, 20000], "bicycle": [1, None]})
    where = catalogue.frames(wanted, A2D2).partition("where ")[2]
    assert where == "front=1 and center=1\n  and car>=10000\n  and car<=20000\n  and bicycle>=1"
    several = catalogue.frames(a_choice(cameras=["front_center", "side_left"]), A2D2).partition("where ")[2]
    assert several == "((front=1 and center=1) or (side=1 and left_=1))"


def test_the_query_finds_what_fits() -> None:
    """10,000 random windows find exactly the frames that a comparison of their pixels finds."""
    chance = Random(18)  # noqa: S311 - the same windows in every run
    names = ("car", "bicycle", "sky", "truck")
    frames = {image(number): {name: chance.randint(0, 9) for name in names} for number in range(40)}
    base = view([row(path, pixels) for path, pixels in frames.items()])
    for _ in range(2_500):
        least = {name: chance.choice((0, 0, chance.randint(0, 9))) for name in names}
        windows = {name: (least[name], chance.choice((None, chance.randint(least[name], 9)))) for name in names}
        expected = {
            path
            for path, pixels in frames.items()
            if all(least <= pixels[name] <= (9 if most is None else most) for name, (least, most) in windows.items())
        }
        assert asked(a_choice(pixels=windows), base) == expected


def test_frames_of_another_camera_do_not_fit() -> None:
    """A camera is chosen by all of its words."""
    assert asked(a_choice(), view([row(image(1), {})], "front_left")) == set()


def test_what_a_lock_was_selected_with_is_compared() -> None:
    """Settings that change what is chosen are named; the place of the catalogue is none."""
    before, there = a_choice().content, {"kind": "discover", "host": "discover.example.com"}
    assert choice.differing(before, a_choice(source=there)) == ()
    assert choice.differing(before, a_choice(pixels={"car": [1, None]}, cameras=["side_left"])) == ("cameras", "pixels")


def test_a_card_of_ones_own_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A card that ends in .yaml is read from the project's folder."""
    own = (project.PRODUCT / "core/datasets/cards/a2d2.yaml").read_text().replace("Bicycle:", "Penny farthing:")
    (tmp_path / "ours.yaml").write_text(own)
    monkeypatch.setattr(project, "FOLDER", tmp_path)
    assert a_choice(card="ours.yaml", pixels={"penny_farthing": [1, None]}).pixels
    assert "ours" not in CARDS
