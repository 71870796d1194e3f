"""Field errors in the words of the API server: the place, the kind, the value as Go prints it, the detail."""

import json
from collections.abc import Iterable

_ESCAPES = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v"}
_ESCAPES |= {'"': r"\"", "\\": r"\\"}
_HTML = str.maketrans({"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"})
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


def marshalled(value: object) -> str:
    """Return a value as Go's JSON encoder writes it: compact, with <, > and & escaped."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).translate(_HTML)


def invalid(path: str, value: object, detail: str) -> str:
    """Say that a value does not hold; `value` is a string, a number, a boolean, None or a list."""
    return f"{path}: Invalid value: {quoted(value) if isinstance(value, str) else marshalled(value)}: {detail}"


def forbidden(path: str, detail: str) -> str:
    """Say that something may not be set or used."""
    return f"{path}: Forbidden: {detail}"


def required(path: str, detail: str = "") -> str:
    """Say that a value is missing."""
    return f"{path}: Required value{': ' if detail else ''}{detail}"


def aggregate(messages: Iterable[str]) -> str:
    """Join messages as the API server does: each once, in brackets when there are several."""
    once = list(dict.fromkeys(messages))
    return once[0] if len(once) == 1 else f"[{', '.join(once)}]"
