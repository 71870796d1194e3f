"""Pictures of a generated data set: labels with the given pixels of each class, and images to go with them."""

import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from datasets.card import Card, Size
from datasets.generated import GeneratedFrame, card
from datasets.naming import LABEL

_BLOCK = Size(width=32, height=8)
"""Pictures are filled block by block, so that objects are areas."""
_FAST = 1
"""zlib's level: three times as fast as its default, for files a quarter larger."""
Rgb = NDArray[np.uint8]


def label(pixels: Mapping[str, int], of: Card) -> Rgb:
    """Return a label picture, height x width x 3, with so many pixels of each class; a class has all its colours.

    `of` has the size of its frames. Raises ValueError where the pixels do not add up to the picture's.
    """
    size = of.frame
    if size is None or sum(pixels.values()) != size.pixels:
        raise ValueError(f"{sum(pixels.values())} pixels do not fill a frame of {of.name}")
    names = {tag: name for name, tag in of.tag_of_class.items()}
    colours: list[tuple[int, ...]] = []
    counts: list[int] = []
    for tag, count in pixels.items():
        own = of.classes[names[tag]]
        for position, colour in enumerate(own):
            colours.append(tuple(bytes.fromhex(colour[1:])))
            counts.append(count // len(own) + (position < count % len(own)))
    line = np.repeat(np.array(colours, dtype=np.uint8), counts, axis=0)
    wide, high = math.gcd(size.width, _BLOCK.width), math.gcd(size.height, _BLOCK.height)
    blocks = line.reshape(size.height // high, size.width // wide, high, wide, 3)
    return np.ascontiguousarray(blocks.transpose(0, 2, 1, 3, 4)).reshape(size.height, size.width, 3)


def write(folder: Path, frame: GeneratedFrame) -> None:
    """Write image, label and info of a frame below a folder."""
    companions = card().naming.companions(frame.image)
    picture = label(frame.pixels, card())
    image, info = folder / frame.image, folder / companions["info"]
    _save(picture, folder / companions[LABEL])
    _save(picture // 2 + 64, image)
    number = int(image.stem.rsplit("_", 1)[-1])
    told = {"cam_name": frame.camera, "cam_tstamp": number * 33_333, "image_png": image.name, "generated_by": "hpc"}
    info.write_text(json.dumps(told) + "\n", encoding="utf-8")


def _save(picture: Rgb, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(picture).save(file, compress_level=_FAST)
