"""Lines that differ in their digits alone: the shape of a line is the line with 0 for each digit.

A log of training has millions of lines of few shapes; what was found of one line then holds for the next of its shape.
"""

import re
from collections.abc import Callable, Sequence
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

    Raises ValueError for a back-reference, and for a class of all but some digits. Digits must not be in lookaheads
    that are negative.
    """
    return "".join(_of_shape(token[0]) for token in _TOKEN.finditer(pattern))


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
    names_some = any(
        piece[0] == "[" and any(character.isdecimal() for character in piece.replace("0-9", "")) for piece in pieces
    )
    return not names_some and r"\x" not in pieces and not any(piece[-1].isdecimal() for piece in pieces)


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
