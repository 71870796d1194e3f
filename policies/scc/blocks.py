"""Blocks of ids as a namespace's annotations write them: `1000680000/10000` or `1000680000-1000689999`."""

from typing import NamedTuple

_WRAP, _UNREADABLE = 2**32, 2**64


class InvalidBlock(ValueError):
    """A block that cannot be read; the message is that of Go's scanner, which the plugin passes on."""


class Block(NamedTuple):
    """Ids from `start` to `end`, both included."""

    start: int
    end: int


def block(written: str) -> Block:
    """Read one block; like the plugin's scanner this takes what it needs and leaves the rest of the text alone."""
    separator = "/" if "/" in written else "-"
    start, rest = _number(written)
    if not rest:
        raise InvalidBlock("unexpected EOF")
    if not rest.startswith(separator):
        raise InvalidBlock("input does not match format")
    second, _ = _number(rest[1:])
    return Block(start, second) if separator == "-" else Block(start, (start + second - 1) % _WRAP)


def _number(written: str) -> tuple[int, str]:
    written = written.lstrip(" \t\r")
    digits = len(written) - len(written.lstrip("0123456789"))
    token, rest = written[:digits], written[digits:]
    if not token:
        raise InvalidBlock("expected integer" if rest else "EOF")
    value = int(token)
    if value >= _UNREADABLE:
        raise InvalidBlock(f'strconv.ParseUint: parsing "{token}": value out of range')
    if value >= _WRAP:
        raise InvalidBlock(f"unsigned integer overflow on token {token}")
    return value, rest
