"""Lines that differ in their digits alone: the shape of a line is the line with 0 for each digit.

A log of training has millions of lines of few shapes; what was found of one line then holds for the next of its shape.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter, methodcaller

from toolkit.evidence.text import TIMED

shape_of: Callable[[bytes], bytes] = methodcaller("translate", bytes.maketrans(b"123456789", b"0" * 9))
"""Return the shape of a line, which is as long as the line."""
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|.", re.DOTALL)


def shapes_of(lines: Sequence[bytes]) -> list[bytes]:
    """Return the shapes of lines, which have no line ends."""
    return shape_of(b"\n".join(lines)).split(b"\n")


def of_shapes(pattern: str) -> str:
    """Return a regular expression that matches the shape of every text that `pattern` matches.

    Raises ValueError for a back-reference, for a class of all but some digits, and for some digits in a negative
    lookahead or lookbehind.
    """
    pieces = [match[0] for match in _TOKEN.finditer(pattern)]
    for part in _refused(pieces):
        if _names_digits(part):
            raise ValueError(f"{part} in (?!) or (?<!) is some digits, whose shape is not known; write \\d or none")
    return "".join(map(_of_shape, pieces))


def _refused(pieces: Sequence[str]) -> Iterator[str]:
    """Yield the pieces within negative lookaheads and lookbehinds."""
    groups: list[bool] = []
    for index, piece in enumerate(pieces):
        if piece == "(":
            groups.append("".join(pieces[index + 1 : index + 4]).startswith(("?!", "?<!")))
        elif piece == ")" and groups:
            groups.pop()
        elif any(groups):
            yield piece


def _names_digits(piece: str) -> bool:
    """Return whether a piece has some digits and not others."""
    if piece[0] == "[":
        return any(character.isdecimal() for character in piece.replace("0-9", ""))
    return piece[-1].isdecimal()


def _of_shape(token: str) -> str:
    if token[-1].isdecimal():
        if len(token) > 1:
            raise ValueError(f"{token} is a back-reference, whose shape is not known; write it without")
        return "0"
    if token[0] == "[" and any(character.isdecimal() for character in token):
        if token[1] == "^":
            raise ValueError(f"{token} is all but some digits, whose shape is not known; name what it takes")
        return f"[0{token[1:]}"
    return token


def treats_digits_alike(pattern: str) -> bool:
    """Return whether a regular expression surely has the same match in two texts of one shape."""
    pieces = [match[0] for match in _TOKEN.finditer(pattern)]
    return r"\x" not in pieces and not any(map(_names_digits, pieces))


def without_times(lines: list[bytes]) -> list[bytes]:
    """Return lines without the times of kubectl or the container runtime, where all have one of the same shape.

    Otherwise return them as they are.
    """
    match = TIMED.match(lines[0]) if lines else None
    if match is None:
        return lines
    # Slices by map() and not by a comprehension: 100 ns a line, not 134.
    end = match.end()
    times = b"".join(map(itemgetter(slice(end)), lines))
    if shape_of(times) != shape_of(match[0]) * len(lines):
        return lines
    return list(map(itemgetter(slice(end, None)), lines))
