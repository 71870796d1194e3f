"""Pixels of classes in label images."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from core.datasets.card import Card, Size
from toolkit.datasets import generated, labels
from toolkit.datasets.labels import LabelError

CARD = generated.card()


def of_size(width: int, height: int) -> Card:
    """Return A2D2's card with other frames."""
    return CARD.model_copy(update={"frame": Size(width=width, height=height)})


def saved(tmp_path: Path, picture: Image.Image) -> Path:
    """Write an image and return its file."""
    file = tmp_path / "label.png"
    picture.save(file)
    return file


@given(chosen=st.lists(st.sampled_from(CARD.class_tags), min_size=1, max_size=38, unique=True), data=st.data())
def test_a_painted_label_has_its_pixels(
    tmp_path_factory: pytest.TempPathFactory, chosen: list[str], data: st.DataObject
) -> None:
    """Counts are those that were painted, whatever the classes, and add up to the image's pixels."""
    rest = 96 * 40
    pixels: dict[str, int] = {}
    for tag in chosen[:-1]:
        pixels[tag] = data.draw(st.integers(0, rest))
        rest -= pixels[tag]
    pixels[chosen[-1]] = rest
    card = of_size(96, 40)
    file = saved(tmp_path_factory.mktemp("labels"), generated.label(pixels, card))
    counted = labels.pixels(file, card)
    assert counted == dict.fromkeys(CARD.class_tags, 0) | pixels
    assert sum(counted.values()) == 96 * 40


@pytest.mark.parametrize("kind", [lambda picture: picture.convert("RGBA"), lambda picture: picture.quantize(8)])
def test_other_kinds_of_coloured_pictures(tmp_path: Path, kind: Callable[[Image.Image], Image.Image]) -> None:
    """A label with an opacity, or with a palette, has the same pixels."""
    card = of_size(32, 16)
    picture = generated.label({"car": 500, "sky": 12}, card)
    counted = labels.pixels(saved(tmp_path, kind(picture)), card)
    assert {tag: count for tag, count in counted.items() if count} == {"car": 500, "sky": 12}


def _grey(tmp_path: Path) -> Path:
    return saved(tmp_path, Image.new("L", (32, 16)))


def _unknown(tmp_path: Path) -> Path:
    picture = generated.label({"car": 512}, of_size(32, 16))
    picture.putpixel((3, 3), (1, 2, 3))
    return saved(tmp_path, picture)


def _photograph(tmp_path: Path) -> Path:
    return saved(
        tmp_path, Image.frombytes("RGB", (64, 32), bytes(byte for n in range(2048) for byte in (n % 256, n // 256, 7)))
    )


def _other_size(tmp_path: Path) -> Path:
    return saved(tmp_path, Image.new("RGB", (31, 16)))


def _text(tmp_path: Path) -> Path:
    (tmp_path / "label.png").write_text("no image")
    return tmp_path / "label.png"


def _cut(tmp_path: Path) -> Path:
    file = _unknown(tmp_path)
    file.write_bytes(file.read_bytes()[:60])
    return file


@pytest.mark.parametrize(
    ("make", "size", "parts"),
    [
        (_unknown, (32, 16), ("no class of a2d2", "#010203 (1 pixels)", "add them to `classes`")),
        (_photograph, (64, 32), ("more than", "not a label", "replace it")),
        (_other_size, (32, 16), ("31 x 16", "32 x 16", "correct `frame`")),
        (_grey, (32, 16), ("mode L", "naming.files.label")),
        (_text, (32, 16), ("not an image", "replace it")),
        (_cut, (32, 16), ("cannot be read", "copy it again")),
    ],
)
def test_what_is_no_label_is_refused(
    tmp_path: Path, make: Callable[[Path], Path], size: tuple[int, int], parts: tuple[str, ...]
) -> None:
    """An image that cannot be counted wholly is an error with file, value and remedy."""
    with pytest.raises(LabelError) as error:
        labels.pixels(make(tmp_path), of_size(*size), "a b\n.png")
    assert [part for part in ("'a b\\n.png'", *parts) if part not in str(error.value)] == [], str(error.value)
