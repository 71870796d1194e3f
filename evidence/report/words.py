"""How the page and the summary write figures."""

from collections.abc import Sequence

_THOUSAND = 1000
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size(count: int) -> str:
    """Return bytes in the largest unit that leaves no fraction, on one line: 8 B, 256 MiB."""
    power = 0
    while power < len(_UNITS) - 1 and count and count % 1024 == 0:
        count //= 1024
        power += 1
    return f"{count}\u00a0{_UNITS[power]}"


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: 1 line, 2 lines."""
    return f"{count} {one if count == 1 else many or one + 's'}"


_NAMED = 3
"""Names that are told of many."""


def some(names: Sequence[str]) -> str:
    """Return names, of many the first few and how many more."""
    more = [f"and {len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return ", ".join([*names[:_NAMED], *more])


def figure(value: float) -> str:
    """Return a figure with three digits, or thousands apart."""
    return f"{value:,.0f}".replace(",", "\u202f") if value >= _THOUSAND else f"{value:.3g}"


def short(file: str) -> str:
    """Return the last two parts of a path: where a log was on somebody's machine is nobody else's concern."""
    return "/".join(file.split("/")[-2:])


_CONTROLS = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


def printable(text: str) -> str:
    """Return text with a mark for each control character, which no page and no review shows."""
    return text.translate(_CONTROLS)
