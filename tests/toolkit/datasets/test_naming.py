"""Names of a data set's files."""

from typing import Any

import pytest
from pydantic import ValidationError

from core.datasets.card import CARDS, Naming

_A2D2 = CARDS["a2d2"].naming
_IMAGE = "camera_lidar_semantic/20181107_133445/camera/cam_front_center/20181107133445_camera_frontcenter_000021093.png"


def test_what_a_name_says() -> None:
    """Scene and camera follow from the printed name of an image, below any folder."""
    frame = _A2D2.frame(_IMAGE)
    assert frame is not None
    assert (frame.scene, frame.camera, frame.fields["number"]) == ("20181107_133445", "front_center", "000021093")
    assert _A2D2.frame(_IMAGE.removeprefix("camera_lidar_semantic/")) is not None


def test_the_companions_of_an_image() -> None:
    """Label, info and lidar are beside the image, as the data set's README has them."""
    assert _A2D2.companions(_IMAGE) == {
        "label": _IMAGE.replace("/camera/", "/label/").replace("_camera_front", "_label_front"),
        "info": _IMAGE.replace(".png", ".json"),
        "lidar": _IMAGE.replace("/camera/", "/lidar/").replace("_camera_front", "_lidar_front").replace("png", "npz"),
    }


def test_cityscapes_has_two_trees() -> None:
    """A field that is twice in a name has one value, and the label is in another tree."""
    naming = CARDS["cityscapes"].naming
    image = "leftImg8bit/val/lindau/lindau_000023_000019_leftImg8bit.png"
    frame = naming.frame(image)
    assert frame is not None
    assert (frame.scene, frame.camera) == ("lindau", "left")
    assert naming.companions(image)["label"] == "gtFine/val/lindau/lindau_000023_000019_gtFine_color.png"
    assert naming.frame(image.replace("/lindau_", "/ulm_")) is None


@pytest.mark.parametrize("path", ["", "a.png", _IMAGE + "\n", _IMAGE.replace("000021093", "21093"), f"x{_IMAGE[22:]}"])
def test_other_names_are_no_images(path: str) -> None:
    """A name of another form is not an image's, one that ends in a newline either."""
    assert _A2D2.frame(path) is None
    with pytest.raises(ValueError, match="not the path of an image"):
        _A2D2.companions(path)


def test_names_with_blanks_and_newlines() -> None:
    """What a field's expression allows is read and written back unchanged."""
    naming = Naming(
        fields={"n": r"[\w \n'\"]+"}, files={"image": "{n}.jpg", "label": "l/{n}.png"}, scene="all", camera="{n}"
    )
    assert naming.companions("x/a 'b'\n\"c\".jpg") == {"label": "x/l/a 'b'\n\"c\".png"}


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"fields": {"n": "("}}, ("fields.n", "not a regular expression", "correct it")),
        ({"fields": {"n": "(a|b)"}}, ("fields.n", "group", "(?:...)")),
        ({"files": {"label": "a"}}, ("image is missing", "add")),
        ({"files": {"image": "{m}"}}, ("m is not a field", "add it")),
        ({"files": {"image": "{n}", "label": "{m}"}}, ("label", "m is not in files.image")),
        ({"scene": "{m}"}, ("scene", "m is not in files.image")),
    ],
)
def test_wrong_templates_are_refused(change: dict[str, Any], parts: tuple[str, ...]) -> None:
    """Templates whose companions would not follow from an image are refused, with field and remedy."""
    right: dict[str, Any] = {"fields": {"n": r"\d"}, "files": {"image": "{n}"}, "scene": "{n}", "camera": "c"}
    with pytest.raises(ValidationError) as error:
        Naming.model_validate(right | change)
    assert [part for part in parts if part not in str(error.value)] == [], str(error.value)
