"""Blocks of ids as a namespace's annotations write them: `1000680000/10000` or `1000680000-1000689999`."""

from typing import NamedTuple

_WRAP, _UNREADABLE = 2**32, 2**64
_MOST_DIGITS = len(str(_UNREADABLE))

_BLANKS = "\t\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What Go's scanner skips, which is not what str.strip does; the end of a line stops it."""


class InvalidBlock(ValueError):
    """A block that cannot be read; the message is that of Go's scanner, which the plugin passes on."""


class Block(NamedTuple):
    """Ids from `start` to `end`, both included."""

    start: int
    end: int


def block(text: str) -> Block:
    """Read one block; like the plugin's scanner this takes what it needs and leaves the rest of the text alone."""
    separator = "/" if "/" in text else "-"
    start, remainder = _number(text)
    if not remainder:
        raise InvalidBlock("unexpected EOF")
    if not remainder.startswith(separator):
        raise InvalidBlock("input does not match format")
    second, _ = _number(remainder[1:])
    return Block(start, second) if separator == "-" else Block(start, (start + second - 1) % _WRAP)


def _number(text: str) -> tuple[int, str]:
    text = text.lstrip(_BLANKS)
    if text.startswith("\n"):
        raise InvalidBlock("unexpected newline")
    digits = len(text) - len(text.lstrip("0123456789"))
    token, remainder = text[:digits], text[digits:]
    if not token:
        raise InvalidBlock("expected integer" if remainder else "EOF")
    # enough to decide: Python refuses to read thousands of digits, with an error of its own
    value = int(token.lstrip("0")[: _MOST_DIGITS + 1] or "0")
    if value >= _UNREADABLE:
        raise InvalidBlock(f'strconv.ParseUint: parsing "{token}": value out of range')
    if value >= _WRAP:
        raise InvalidBlock(f"unsigned integer overflow on token {token}")
    return value, remainder
