"""Cutting a live object down to what the program had set (pure)."""

from typing import Any

Path = tuple[str | int, ...]


def prune(live: Any, shape: Any) -> Any:
    """Return the live value without what `shape` does not have: the server's defaults and other owners' fields.

    Lists are matched by position and cut to the shape's length (the official provider's rule), so an element that
    another client appended is not drift. Where the two are not of one type, the live value stays as it is.
    """
    if isinstance(live, dict) and isinstance(shape, dict):
        return {key: prune(value, shape[key]) for key, value in live.items() if key in shape}
    if isinstance(live, list) and isinstance(shape, list):
        if not live or not shape:
            return []
        if type(live[0]) is not type(shape[0]):
            return live
        return [prune(value, template) for value, template in zip(live, shape, strict=False)]
    return live
