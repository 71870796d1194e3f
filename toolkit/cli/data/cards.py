"""The card that a command names: one of the project's, or a file of the user's own."""

from pathlib import Path

from core.data_files import SUFFIX, DataFileError
from core.datasets.card import CARDS, Card, read_card
from toolkit.cli.shared.errors import Problem


def find(name: str) -> Card:
    """Return the card of a name, or of a file; raise Problem where there is none or it is wrong."""
    try:
        if name in CARDS:
            return CARDS[name]
        if name.endswith(SUFFIX):
            return read_card(Path(name))
    except DataFileError as error:
        raise Problem(str(error)) from None
    raise Problem(
        f"no card is called {name!r}", f"Known: {', '.join(CARDS)}; or name the file of your own, e.g. ours{SUFFIX}."
    )
