"""Field errors in the words of the API server: the place, the kind, the value as Go prints it, the detail."""

import json
from collections.abc import Iterable, Sequence

_ESCAPES = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v"}
_ESCAPES |= {'"': r"\"", "\\": r"\\"}
_BYTE, _WORD = 0x80, 0x10000


def quoted(value: str) -> str:
    """Return a string in quotes as Go's %q prints it."""
    if value.isprintable() and '"' not in value and "\\" not in value:
        return f'"{value}"'
    return f'"{"".join(_rune(character) for character in value)}"'


def _rune(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    point = ord(character)
    if point < _BYTE:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < _WORD else f"\\U{point:08x}"


def invalid(path: str, value: str | int | Sequence[int] | None, detail: str) -> str:
    """Return the message for an invalid value."""
    text = quoted(value) if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return f"{path}: Invalid value: {text}: {detail}"


def forbidden(path: str, detail: str) -> str:
    """Return the message for something that may not be set or used."""
    return f"{path}: Forbidden: {detail}"


def aggregate(messages: Iterable[str]) -> str:
    """Join messages as the API server does: each once, in brackets when there are several."""
    once = list(dict.fromkeys(messages))
    return once[0] if len(once) == 1 else f"[{', '.join(once)}]"
