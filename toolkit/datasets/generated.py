"""A small data set of our own: which frames it has and how many pixels of each class, and its images."""

import json
import math
import random
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from pydantic import Field

from core.data_files import read, validate
from core.datasets.card import CARDS, LABEL, Card, Size
from core.model import Model

FILE = Path(__file__).with_suffix(".yaml")
LEAST = 40
"""Frames at least: the printed ones, and as many others that the rare classes and the mean shares are on."""
MOST = 100_000
"""Frames at most: that many names are found at once, and twice A2D2 is not a small data set."""
_CAMERA = "front_center"
_FEW, _MANY = 200, 12_000
"""Pixels of a class that is neither printed nor fills a frame."""
_ONE_IN = 5
"""Every fifth frame has the classes whose mean share is small."""
_SMALL = 5.0
"""Percent below which a mean share is on some frames only."""
_BLOCK = Size(width=32, height=8)
"""Images are filled block by block, so that objects are areas."""
_FAST = 1
"""zlib's level for images; labels have its default, as public ones do, which is slower to read."""


class Plan(Model):
    """What the generated data set must show; the file of it is `toolkit/datasets/generated.yaml`."""

    card: str = Field(description="card that its files follow")
    above: str = Field(description="folder above the scenes")
    shares: Mapping[str, float] = Field(description="mean share of a class, percent of all pixels")
    sides: Mapping[str, tuple[int, int]] = Field(
        description="classes that fill a frame from above, percent of its pixels"
    )
    rest: str = Field(description="class of all other pixels")
    few: str = Field(description="class of `window` that few frames show")
    bicycles: tuple[str, ...] = Field(description="scene/number of frames that show it outside of the window")
    window: Mapping[str, tuple[int, int]] = Field(description="pixels of classes, from and to, in the window")
    in_window: tuple[str, ...] = Field(description="scene/number of frames in the window")


class GeneratedFrame(NamedTuple):
    """An image of the data set, and the pixels of the classes in it."""

    image: str
    """Path below the data set's folder."""
    camera: str
    pixels: Mapping[str, int]
    """By tag, of classes that it shows; they add up to the image's pixels."""


@cache
def plan() -> Plan:
    """Return what the data set must show."""
    return validate(Plan, read(FILE), FILE)


def card() -> Card:
    """Return the card of the data set."""
    return CARDS[plan().card]


def frames(number: int = 100, seed: int = 0) -> tuple[GeneratedFrame, ...]:
    """Return the frames of a data set of `number` images, in the order of their names; the same for the same seed.

    Raises ValueError for fewer than `LEAST` and more than `MOST`.
    """
    if not LEAST <= number <= MOST:
        raise ValueError(f"a generated data set has {LEAST} to {MOST} frames, not {number}")
    chance = random.Random(seed)  # noqa: S311 - for repeatable images
    images = [*_images(number, chance)]
    contents = [_printed(position, image.camera, chance) for position, image in enumerate(images)]
    _add_small(contents, chance)
    _add_shares(contents, chance)
    made = (image._replace(pixels=_filled(content, chance)) for image, content in zip(images, contents, strict=True))
    return tuple(sorted(made, key=lambda frame: frame.image))


def _images(number: int, chance: random.Random) -> Iterator[GeneratedFrame]:
    """Yield the printed frames, then others of the same scenes, of all cameras in turn."""
    printed = [*plan().bicycles, *plan().in_window]
    for name in printed:
        yield _image(name, camera=_CAMERA)
    scenes = sorted({name.split("/")[0] for name in printed})
    cameras = [*card().cameras]
    used = set(printed)
    for position in range(number - len(printed)):
        name = printed[0]
        while name in used:
            name = f"{chance.choice(scenes)}/{chance.randrange(100_000):09d}"
        used.add(name)
        yield _image(name, camera=cameras[position % len(cameras)])


def _image(name: str, camera: str) -> GeneratedFrame:
    scene, number = name.split("/")
    stamp, sensor = scene.replace("_", ""), camera.replace("_", "")
    fields = {"scene": scene, "camera": camera, "stamp": stamp, "sensor": sensor, "number": number}
    return GeneratedFrame(f"{plan().above}/{card().naming.image(fields)}", camera, {})


def _printed(position: int, camera: str, chance: random.Random) -> dict[str, int]:
    window = plan().window
    few = plan().few
    outside = position - len(plan().bicycles)
    if outside < 0:  # too small for the window
        return {few: chance.randrange(_FEW, window[few][0])}
    if outside < len(plan().in_window):
        return {tag: chance.randint(*limits) for tag, limits in window.items()}
    content = {tag: chance.randint(0, 4 * limits[1]) for tag, limits in window.items() if tag != few}
    if camera != _CAMERA and not position % _ONE_IN:
        content[few] = chance.randint(*window[few])  # found only by a query that forgets the camera
    return content


def _add_small(contents: list[dict[str, int]], chance: random.Random) -> None:
    """Give every class without a rule of its own to half of the frames, and to one at least."""
    explicit = {*plan().window, *plan().shares, *plan().sides, plan().rest}
    for position, tag in enumerate(tag for tag in card().class_tags if tag not in explicit):
        for at, content in enumerate(contents):
            if at == position % len(contents) or chance.random() < 1 / 2:
                content[tag] = chance.randint(_FEW, _MANY)


def _add_shares(contents: list[dict[str, int]], chance: random.Random) -> None:
    """Give classes their mean share of all pixels, as exactly as pixels allow."""
    for tag, percent in plan().shares.items():
        holders = contents[:: _ONE_IN if percent < _SMALL else 1]
        total = round(percent / 100 * _frame_pixels() * len(contents))
        weights = [chance.uniform(0.8, 1.2) for _ in holders]
        pixels = [int(total * weight / sum(weights)) for weight in weights]
        pixels[-1] += total - sum(pixels)
        for content, count in zip(holders, pixels, strict=True):
            content[tag] = count


def _filled(content: dict[str, int], chance: random.Random) -> dict[str, int]:
    sides = {tag: _frame_pixels() * chance.randint(*limits) // 100 for tag, limits in plan().sides.items()}
    shown = {tag: count for tag, count in {**sides, **content}.items() if count}
    return {**shown, plan().rest: _frame_pixels() - sum(shown.values())}


def _frame_pixels() -> int:
    size = card().frame
    assert size is not None  # noqa: S101 - the plan's card has one
    return size.pixels


def label(pixels: Mapping[str, int], of: Card) -> Image.Image:
    """Return a label image with so many pixels of each class by its tag; a class has all its colours.

    `of` has the size of its frames. Raises ValueError where the pixels do not add up to the image's.
    """
    size = of.frame
    if size is None or sum(pixels.values()) != size.pixels:
        raise ValueError(f"{sum(pixels.values())} pixels do not fill a frame of {of.name}")
    names = {tag: name for name, tag in of.tag_of_class.items()}
    line = bytearray()
    for tag, count in pixels.items():
        own = of.classes[names[tag]]
        for position, colour in enumerate(own):
            line += bytes.fromhex(colour[1:]) * (count // len(own) + (position < count % len(own)))
    wide, high = math.gcd(size.width, _BLOCK.width), math.gcd(size.height, _BLOCK.height)
    blocks = Image.frombytes("RGB", (wide, size.pixels // wide), bytes(line))
    picture = Image.new("RGB", (size.width, size.height))
    places = ((x, y) for y in range(0, size.height, high) for x in range(0, size.width, wide))
    for position, place in enumerate(places):
        picture.paste(blocks.crop((0, position * high, wide, (position + 1) * high)), place)
    return picture


def write(folder: Path, frame: GeneratedFrame) -> None:
    """Write image, label and info of a frame below a folder."""
    companions = card().naming.companions(frame.image)
    picture = label(frame.pixels, card())
    image, label_file, info = (folder / name for name in (frame.image, companions[LABEL], companions["info"]))
    for file in (label_file, image):
        file.parent.mkdir(parents=True, exist_ok=True)
    picture.save(label_file)
    picture.point(lambda value: value // 2 + 64).save(image, compress_level=_FAST)
    number = int(image.stem.rsplit("_", 1)[-1])
    described = {
        "cam_name": frame.camera,
        "cam_tstamp": number * 33_333,
        "image_png": image.name,
        "generated_by": "hpc",
    }
    info.write_text(json.dumps(described) + "\n", encoding="utf-8")
