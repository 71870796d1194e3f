"""Label images: how many pixels of each class one shows."""

from pathlib import Path
from typing import cast

from PIL import Image, UnidentifiedImageError

from core.datasets.card import Card
from core.errors import UserError

_MODES = {"RGB", "RGBA", "P"}
"""Kinds of images that have colours; Cityscapes' have an opacity as well, and VOC's a palette."""
_SHOWN = 3
"""Unknown colours that a message lists."""
_MOST = 1024
"""Colours of an image that is a label."""


class LabelError(UserError):
    """A label image cannot be counted; the message names file, value and remedy."""


def pixels(file: Path, card: Card, name: str = "") -> dict[str, int]:
    """Return the pixels of every class of a label image by its tag, also of those that it does not show.

    They add up to the image's pixels. `name` is what messages call the file. Raises LabelError for a file that is no
    picture, has another size than the card's frames, or a colour of no class.
    """
    shown = repr(name or str(file))
    try:
        with Image.open(file) as picture:
            return _counted(picture, card, shown)
    except UnidentifiedImageError:
        raise LabelError(f"{shown}: is not an image; replace it by the label image of its frame") from None
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
            f"{shown}: is an image of mode {picture.mode}, without the colours of classes; name the coloured labels "
            f"in naming.files.label of the card {card.name}"
        )
    # In C: half of the time that decoding takes, and no further copy of the pixels.
    colours = (picture if picture.mode == "RGB" else picture.convert("RGB")).getcolors(_MOST)
    if colours is None:
        raise LabelError(f"{shown}: has more than {_MOST} colours, so it is not a label; replace it by the label")
    counts = dict.fromkeys(card.class_tags, 0)
    unknown: list[str] = []
    for count, bands in colours:
        red, green, blue = cast("tuple[int, int, int]", bands)
        colour = red << 16 | green << 8 | blue
        if (tag := card.tag_of_colour.get(colour)) is None:
            unknown.append(f"#{colour:06x} ({count} pixels)")
        else:
            counts[tag] += count
    if unknown:
        more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
        raise LabelError(
            f"{shown}: colours of no class of {card.name}: {', '.join(sorted(unknown)[:_SHOWN])}{more}; add them to "
            "`classes` of the card, or replace the file if it is not a label"
        )
    return counts
