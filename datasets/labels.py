"""Label pictures: how many pixels of each class one shows."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from apis.errors import UserError
from datasets.card import Card

_MODES = {"RGB", "RGBA", "P"}
"""Kinds of pictures that have colours; Cityscapes' have an opacity as well, and VOC's a palette."""
_SHOWN = 3
"""Unknown colours that a message lists."""


class LabelError(UserError):
    """A label picture cannot be counted; the message names file, value and remedy."""


def pixels(file: Path, card: Card, name: str = "") -> dict[str, int]:
    """Return the pixels of every class of a label picture by its tag, also of those that it does not show.

    They add up to the picture's pixels. `name` is what messages call the file. Raises LabelError for a file that is no
    picture, has another size than the card's frames, or a colour of no class.
    """
    shown = repr(name or str(file))
    try:
        with Image.open(file) as picture:
            return _counted(picture, card, shown)
    except UnidentifiedImageError:
        raise LabelError(f"{shown}: is no picture; replace it by the label of its image") from None
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:  # Pillow's for a broken PNG
        raise LabelError(f"{shown}: cannot be read ({error}); copy it again from its source") from None


def _counted(picture: Image.Image, card: Card, shown: str) -> dict[str, int]:
    if card.frame is not None and picture.size != (card.frame.width, card.frame.height):
        raise LabelError(
            f"{shown}: has {picture.width} x {picture.height} pixels, and frames of {card.name} have "
            f"{card.frame.width} x {card.frame.height}; replace it, or correct `frame` of the card"
        )
    if picture.mode not in _MODES:
        raise LabelError(
            f"{shown}: is a picture of mode {picture.mode}, without the colours of classes; name the coloured labels "
            f"in naming.files.label of the card {card.name}"
        )
    found = _colours(picture if picture.mode == "RGB" else picture.convert("RGB"))
    if unknown := {colour: count for colour, count in found.items() if colour not in card.tag_of_colour}:
        listed = ", ".join(f"#{colour:06x} ({count} pixels)" for colour, count in [*unknown.items()][:_SHOWN])
        more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
        raise LabelError(
            f"{shown}: colours of no class of {card.name}: {listed}{more}; add them to `classes` of the card, or "
            "replace the file if it is no label"
        )
    counts = dict.fromkeys(card.class_tags, 0)
    for colour, count in found.items():
        counts[card.tag_of_colour[colour]] += count
    return counts


def _colours(picture: Image.Image) -> Mapping[int, int]:
    """Return the pixels of each colour, red * 65536 + green * 256 + blue, of an RGB picture.

    Labels are areas, so runs of one colour are counted: a thirtieth of the pixels, and no sorting of all of them.
    """
    flat: NDArray[np.uint32] = np.frombuffer(picture.tobytes("raw", "RGBX"), dtype="<u4")  # how Pillow stores it
    starts = np.concatenate(([0], np.flatnonzero(flat[1:] != flat[:-1]) + 1))
    lengths = np.diff(starts, append=flat.size)
    colours, owner = np.unique(flat[starts], return_inverse=True)
    counts = np.bincount(owner, weights=lengths)  # exact: below 2 ** 53
    return {
        int.from_bytes(int(colour).to_bytes(4, "little")[:3], "big"): int(count)
        for colour, count in zip(colours, counts, strict=True)
    }
