"""Cards of data sets."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from core.data_files import ROOT, DataFileError
from core.datasets.card import CARDS, FOLDER, read_card, tag

_TAGS = """car bicycle pedestrian truck small_vehicles traffic_signal traffic_sign utility_vehicle sidebars speed_bumper
curbstone solid_line irrelevant_signs road_blocks tractor nondrivable_street zebra_crossing obstacles_trash poles
rd_restricted_area animals grid_structure signal_corpus drivable_cobblestone electronic_traffic slow_drive_area
nature_object parking_area sidewalk ego_car painted_driv_instr traffic_guide_obj dashed_line rd_normal_street sky
buildings blurred_area rain_dirt"""
"""As the published records of the paper's own catalogue have them."""


@pytest.mark.parametrize("name", sorted(CARDS))
def test_every_card_is_right(name: str) -> None:
    """The file of each card is a card, and says where its facts are from."""
    assert CARDS[name].name == name
    assert CARDS[name].source
    assert CARDS[name].licence


@pytest.mark.parametrize("name", sorted(CARDS))
def test_the_schema_accepts_every_card(name: str) -> None:
    """What editors check a card by accepts the cards that there are, and refuses a wrong field."""
    schema = jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "schemas" / "card.json").read_text()))
    content = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    assert [error.message for error in schema.iter_errors(content)] == []
    assert not schema.is_valid(content | {"colour": "#ff0000"})
    assert not schema.is_valid({key: value for key, value in content.items() if key != "classes"})


def test_the_classes_of_a2d2() -> None:
    """A2D2's 55 colours are 38 classes, whose tags are those of the published records."""
    card = CARDS["a2d2"]
    assert list(card.class_tags) == _TAGS.split()
    assert len(card.tag_of_colour) == 55
    assert (len(card.cameras), card.frames) == (6, 41_277)
    assert card.frame is not None
    assert card.frame.pixels == 2_319_360
    assert set(card.camera_tags) == {"front", "side", "rear", "left_", "center", "right_"}
    assert card.tag_of_colour[0x5A1E1E] == "bicycle"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Obstacles / trash", "obstacles_trash"), ("Non-drivable street", "nondrivable_street"), (" Sky ", "sky")],
)
def test_the_tag_of_a_class(name: str, expected: str) -> None:
    """Capitals become small, blanks become _, and other signs are dropped."""
    assert tag(name) == expected


def _changed(tmp_path: Path, **fields: Any) -> Path:
    content = yaml.safe_load((FOLDER / "a2d2.yaml").read_text()) | fields
    path = tmp_path / "ours.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def test_a_card_of_the_users_own(tmp_path: Path) -> None:
    """A file anywhere is a card by the name of the file."""
    card = read_card(_changed(tmp_path, classes={"Road": ["#000000"], "Rest": ["#ffffff"]}))
    assert (card.name, card.class_tags) == ("ours", ("road", "rest"))


@pytest.mark.parametrize(
    ("fields", "parts"),
    [
        ({"classes": {"Car": ["#ff0000"], "Bus": ["#ff0000"]}}, ("classes", "#ff0000", "Car", "Bus", "remove one")),
        ({"classes": {"Car": []}}, ("classes.Car", "no colour", "give at least one")),
        ({"classes": {"Car": ["red"]}}, ("classes.Car[0]", "'red'")),
        ({"classes": {"Car": ["#ff0000"], "car!": ["#00ff00"]}}, ("tag car", "rename one")),
        ({"classes": {"Front": ["#ff0000"]}}, ("tag front", "rename one")),
        ({"classes": {"2 wheels": ["#ff0000"]}}, ("'2 wheels'", "'2_wheels'", "begin with a letter")),
        ({"cameras": {"a": ["front"], "b": ["front", "wide"]}}, ("cameras", "give each at least one of its own")),
        ({"name": "other"}, ("name", "'other'", "remove it")),
        (
            {"naming": {"fields": {}, "files": {"image": "a.png"}, "scene": "", "camera": ""}},
            ("label is missing", "add"),
        ),
    ],
)
def test_a_wrong_card_is_refused(tmp_path: Path, fields: dict[str, Any], parts: tuple[str, ...]) -> None:
    """Classes and cameras that a catalogue could not tell apart are refused, with field, value and remedy."""
    with pytest.raises(DataFileError) as error:
        read_card(_changed(tmp_path, **fields))
    assert [part for part in (*parts, "ours.yaml") if part not in str(error.value)] == [], str(error.value)


def test_the_card_of_the_paper_has_all_that_it_says_of_the_data() -> None:
    """Six cameras, five LIDARs, 38 categories, and what is annotated in how many frames, under a licence."""
    card = CARDS["a2d2"]
    assert (len(card.cameras), card.lidars, len(card.classes), card.frames) == (6, 5, 38, 41277)
    assert card.annotations["3D boxes"] == 12497
    assert card.annotations["semantic segmentation"] == card.frames
    assert {"instance segmentation", "bus data"} <= card.annotations.keys()
    assert card.licence.startswith("CC BY-ND 4.0")
