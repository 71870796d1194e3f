"""The questions that a choice asks a catalogue, as SQL: names are the card's, and values are numbers.

They are of the wide view, which has a column for every tag, joined in advance. The same frames fit the printed query,
which joins the tables of its tags.
"""

from collections.abc import Iterator

from core.datasets.card import Card
from core.datasets.catalogue import FILE_TABLE, WIDE_VIEW
from core.datasets.choice import Choice

FILE_COLUMNS = ("platform", "datasource", "path", "filename", "size")
FILES = f"select {', '.join(FILE_COLUMNS)} from {FILE_TABLE}"  # noqa: S608 - constants
"""All files with their bytes: companions of images are found in it by their names."""


def frames(choice: Choice, card: Card) -> str:
    """Return the query for the images that fit, with FILE_COLUMNS and then the pixels of each class of the card.

    A choice has only names that its card has, and a card only names that SQL takes.
    """
    conditions = "\n  and ".join([_cameras(choice, card), *_windows(choice)])
    return f"select {', '.join((*FILE_COLUMNS, *card.class_tags))}\nfrom {WIDE_VIEW}\nwhere {conditions}"


def domain(choice: Choice, card: Card) -> str:
    """Return the query for the pixels of each class in all frames of the cameras of a choice: its operating domain."""
    sums = ", ".join(f"sum({tag})" for tag in card.class_tags)
    return f"select {sums} from {WIDE_VIEW} where {_cameras(choice, card)}"  # noqa: S608


def _cameras(choice: Choice, card: Card) -> str:
    conditions = [" and ".join(f"{tag}=1" for tag in card.cameras[name]) for name in choice.cameras]
    return conditions[0] if len(conditions) == 1 else f"({' or '.join(f'({condition})' for condition in conditions)})"


def _windows(choice: Choice) -> Iterator[str]:
    for name, (least, most) in choice.pixels.items():
        yield f"{name}>={least:d}"
        if most is not None:
            yield f"{name}<={most:d}"
