"""The generated data set: repeatable, with the printed names, and images that have the planned pixels."""

from pathlib import Path

import pytest
from PIL import Image

from toolkit.datasets import generated, labels
from toolkit.datasets.frames import frames_of, list_files


def test_the_same_seed_makes_the_same_frames() -> None:
    """Frames follow from number and seed; another seed makes others, with the same printed ones."""
    assert generated.frames(50, 1) == generated.frames(50, 1)
    names = [{frame.image for frame in generated.frames(50, seed)} for seed in (1, 2)]
    assert names[0] != names[1]
    assert len(names[0] & names[1]) >= 14


@pytest.mark.parametrize("number", [generated.LEAST, 77])
def test_every_class_is_in_it_and_frames_are_filled(number: int) -> None:
    """Every frame is filled exactly, and every class is on some frame."""
    frames = generated.frames(number)
    size = generated.card().frame
    assert size is not None
    assert {sum(frame.pixels.values()) for frame in frames} == {size.pixels}
    assert min(min(frame.pixels.values()) for frame in frames) > 0
    assert {tag for frame in frames for tag in frame.pixels} == set(generated.card().class_tags)
    assert len({frame.image for frame in frames}) == number


@pytest.mark.parametrize("number", [39, 100_001])
def test_other_numbers_of_frames_are_refused(number: int) -> None:
    """The printed frames and the rare classes need room, and names must be enough."""
    with pytest.raises(ValueError, match=f"has 40 to 100000 frames, not {number}"):
        generated.frames(number)


def test_pictures_have_the_planned_pixels(tmp_path: Path) -> None:
    """A painted frame is one of the card, with label and info, and its label has the pixels of the plan."""
    frame = generated.frames(generated.LEAST)[3]
    generated.write(tmp_path, frame)
    (found,) = frames_of(list_files(tmp_path), generated.card()).frames
    assert (found.image, found.camera, len(found.others)) == (frame.image, frame.camera, 1)
    counted = labels.pixels(tmp_path / found.label, generated.card())
    assert {tag: count for tag, count in counted.items() if count} == frame.pixels
    with Image.open(tmp_path / found.image) as image, Image.open(tmp_path / found.label) as label:
        assert (image.size, image.mode) == (label.size, "RGB")
        colours = {value for _, value in label.getcolors(100) or ()}
    assert colours <= {tuple(each.to_bytes(3, "big")) for each in generated.card().tag_of_colour}


def test_pixels_that_do_not_fill_a_frame() -> None:
    """A label is painted only of as many pixels as it has."""
    with pytest.raises(ValueError, match="5 pixels do not fill a frame of a2d2"):
        generated.label({"car": 5}, generated.card())
