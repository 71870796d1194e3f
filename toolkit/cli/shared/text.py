"""Lists of names in messages. Numbers of things are written by `core.wording.plural`."""

from collections.abc import Sequence

_MOST = 16


def some(names: Sequence[str], most: int = _MOST) -> str:
    """Return names separated by commas; beyond `most`, how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
