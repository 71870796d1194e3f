"""How much of the pixels each class has, and in how many frames it is."""

from collections.abc import Iterable, Mapping, Sequence

from core.datasets.card import Card
from core.datasets.catalogue import Catalogue, CatalogueError, table_of
from core.model import Model

_COLUMNS = 4


class Share(Model):
    """One class in all frames of a catalogue."""

    name: str
    """The class, as the card calls it."""
    tag: str
    frames: int
    """Frames that show it."""
    pixels: int
    """Its pixels in all frames."""
    share: float
    """Its part of all pixels, percent."""


def shares(catalogue: Catalogue, card: Card) -> tuple[Share, ...]:
    """Return the share of every class of a card, the largest first.

    The mean of the paper's formula, sum(value) / (count * width * height), for frames of any size: the values of a
    frame's classes add up to its pixels. Raises CatalogueError, also where classes differ in their number of rows.
    """
    sql = "\nunion all\n".join(
        f"select '{tag}' as tag, count(value) as records, count(nullif(int(value), 0)) as frames, "  # noqa: S608
        f"sum(int(value)) as pixels from {table_of(tag)}"
        for tag in card.class_tags
    )
    rows = {row[0]: row[1:] for row in catalogue.ask(sql) if len(row) == _COLUMNS}
    _require_all(rows, card)
    pixels = {tag: int(float(total or 0)) for tag, (_, _, total) in rows.items()}
    whole = sum(pixels.values())
    class_shares = (
        Share(
            name=name,
            tag=tag,
            frames=int(float(rows[tag][1])),
            pixels=pixels[tag],
            share=100 * pixels[tag] / whole if whole else 0.0,
        )
        for name, tag in card.tag_of_class.items()
    )
    return tuple(sorted(class_shares, key=lambda share: (-share.pixels, share.tag)))


def rare(class_shares: Iterable[Share], below: float) -> tuple[Share, ...]:
    """Return the classes with less than `below` percent of the pixels."""
    return tuple(share for share in class_shares if share.share < below)


def _require_all(rows: Mapping[str, Sequence[str]], card: Card) -> None:
    if missing := [tag for tag in card.class_tags if tag not in rows]:
        raise CatalogueError(f"the catalogue has no answer for the classes {', '.join(missing)}; correct the card")
    numbers = {tag: rows[tag][0] for tag in card.class_tags}
    if len(set(numbers.values())) > 1:
        most = max(numbers, key=lambda tag: int(numbers[tag]))
        least = min(numbers, key=lambda tag: int(numbers[tag]))
        raise CatalogueError(
            f"{least} has {numbers[least]} rows and {most} has {numbers[most]}, so shares of all frames would be "
            "wrong; let the extractor write 0 for classes that a frame does not show, or index again"
        )
