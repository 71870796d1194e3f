"""How figures, names and counts are written, in verdicts and in reports."""

from collections.abc import Iterable

_THOUSAND = 1000
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size(count: int) -> str:
    """Return bytes in the largest unit that leaves no fraction, on one line: 8 B, 256 MiB."""
    power = 0
    while power < len(_UNITS) - 1 and count and count % 1024 == 0:
        count //= 1024
        power += 1
    return f"{count}\u00a0{_UNITS[power]}"


def listed(names: Iterable[str], most: int = 8) -> str:
    """Return names with commas; of many the first, and how many more."""
    all_names = list(names)
    more = len(all_names) - most
    return ", ".join([*all_names[:most], *([f"and {more} more"] if more > 0 else [])])


def some(names: Iterable[str]) -> str:
    """Return at most three names, and how many more."""
    return listed(names, 3)


def figure(value: float) -> str:
    """Return a figure with three digits, or whole with commas between thousands: `13,799`."""
    return f"{value:,.0f}" if value >= _THOUSAND else f"{value:.3g}"


def short(file: str) -> str:
    """Return the last two parts of a path: the rest belongs to the machine that it was read on."""
    return "/".join(file.split("/")[-2:])


_CONTROLS = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


def printable(text: str) -> str:
    """Return text with a mark for each control character, which no page and no review shows."""
    return text.translate(_CONTROLS)
