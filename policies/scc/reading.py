"""Typed reading of plain trees from JSON or YAML, with the place of whatever does not fit.

An absent key and a null are the same thing, as they are to the API server.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Object: TypeAlias = Mapping[str, Any]

INT64 = range(-(2**63), 2**63)


class InvalidPod(ValueError):
    """A pod, a namespace or an SCC that the API server could not decode; the message names the field and its value."""

    def __init__(self, path: str, expected: str, value: object) -> None:
        try:
            shown = repr(value)
        except (RecursionError, ValueError):  # nested too deeply, or an integer of thousands of digits
            shown = f"{type(value).__name__} that is too large to show"
        super().__init__(f"{path}: expected {expected}, got {shown[:80]}{'...' if len(shown) > 80 else ''}")  # noqa: PLR2004
        self.path = path


def mapping(parent: Object, key: str, path: str) -> Object | None:
    """Return the object below `key`, None when there is none."""
    value = parent.get(key)
    if value is None or isinstance(value, Mapping):
        return value
    raise InvalidPod(f"{path}{key}", "an object", value)


def sequence(parent: Object, key: str, path: str) -> Sequence[Any] | None:
    """Return the list below `key`, None when there is none."""
    value = parent.get(key)
    if value is None or isinstance(value, list | tuple):
        return value
    raise InvalidPod(f"{path}{key}", "a list", value)


def objects(parent: Object, key: str, path: str) -> Sequence[Object]:
    """Return the list of objects below `key`, empty when there is none; a null entry is an empty object."""
    items = sequence(parent, key, path)
    if not items:
        return ()
    for index, entry in enumerate(items):
        if not isinstance(entry, Mapping | None):
            raise InvalidPod(f"{path}{key}[{index}]", "an object", entry)
    return [entry or {} for entry in items]


def text(parent: Object, key: str, path: str) -> str:
    """Return the string below `key`, "" when there is none."""
    value = parent.get(key)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    raise InvalidPod(f"{path}{key}", "a string", value)


def texts(parent: Object, key: str, path: str) -> tuple[str, ...]:
    """Return the list of strings below `key`, empty when there is none; a null entry is ""."""
    items = sequence(parent, key, path)
    if not items:
        return ()
    for index, entry in enumerate(items):
        if not isinstance(entry, str | None):
            raise InvalidPod(f"{path}{key}[{index}]", "a string", entry)
    return tuple(entry or "" for entry in items)


def number(parent: Object, key: str, path: str) -> int | None:
    """Return the 64-bit integer below `key`, None when there is none."""
    return integer(parent.get(key), f"{path}{key}")


def integer(value: object, path: str) -> int | None:
    """Return `value` when it is a 64-bit integer or None."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value in INT64):
        return value
    raise InvalidPod(path, "an integer of 64 bits", value)


def flag(parent: Object, key: str, path: str) -> bool | None:
    """Return the boolean below `key`, None when there is none."""
    value = parent.get(key)
    if value is None or isinstance(value, bool):
        return value
    raise InvalidPod(f"{path}{key}", "a boolean", value)


def labels(parent: Object, key: str, path: str) -> dict[str, str] | None:
    """Return a map of strings (annotations, labels), None when there is none; a null value is ""."""
    items = mapping(parent, key, path)
    if items is None:
        return None
    read: dict[str, str] = {}
    for name, value in items.items():
        if not isinstance(name, str):
            raise InvalidPod(f"{path}{key}", "strings as keys", name)
        if not isinstance(value, str | None):
            raise InvalidPod(f"{path}{key}[{name}]", "a string", value)
        read[name] = value or ""
    return read
