"""Duplicate values."""

from collections.abc import Iterable, Iterator


def repeated(what: str, values: Iterable[str]) -> Iterator[str]:
    """Yield a problem for every value that was there before; `what` names the setting."""
    seen: set[str] = set()
    for value in values:
        if value in seen:
            yield f"{what} {value!r} is given twice; give each its own"
        seen.add(value)
