"""JSON merge patches (RFC 7386): a map merges key by key, null removes a key, and all else is replaced."""

from collections.abc import Mapping
from typing import Any


def merged(value: Any, patch: Any) -> Any:
    """Return `value` with `patch` over it; neither is changed."""
    if not isinstance(patch, Mapping):
        return patch
    base = dict(value) if isinstance(value, Mapping) else {}
    for key, part in patch.items():
        if part is None:
            base.pop(key, None)
        else:
            base[key] = merged(base.get(key), part)
    return base


def between(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the smallest patch that makes `new` of `old`. `new` has no nulls."""
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            if inner := between(before, value):
                patch[key] = inner
        elif key not in old or before != value or isinstance(before, bool) is not isinstance(value, bool):
            patch[key] = value
    return patch


def composed(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patch that does what `first`, and then `second` do."""
    patch = dict(first)
    for key, part in second.items():
        before = patch.get(key)
        both = isinstance(before, Mapping) and isinstance(part, Mapping)
        patch[key] = composed(before, part) if both and before is not None else part
    return patch
