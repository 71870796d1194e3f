"""Images of a generated data set: labels with the given pixels of each class, and images to go with them."""

import json
import math
from collections.abc import Mapping
from pathlib import Path

from PIL import Image

from core.datasets.card import Card, Size
from core.datasets.naming import LABEL
from toolkit.datasets.generated import GeneratedFrame, card

_BLOCK = Size(width=32, height=8)
"""Images are filled block by block, so that objects are areas."""
_FAST = 1
"""zlib's level for images; labels have its default, as public ones do, which is slower to read."""


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
