"""Cutting a live object down to what the program had asked for, and when two values mean the same to the server."""

from decimal import Decimal, InvalidOperation
from typing import Any

from simulator.plugins.provider.values import MISSING

# Maps of quantities, and fields that are one: the server rewrites them ("1000m" to "1", 5 to "5").
_QUANTITIES = frozenset(
    {
        *("requests", "limits", "capacity", "allocatable", "hard", "default", "defaultRequest", "max", "min"),
        *("overhead", "sizeLimit", "divisor", "storage", "allocatedResources"),
    }
)
_SUFFIXES = {
    **{suffix: Decimal(1024) ** (power + 1) for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))},
    **{suffix: Decimal(1000) ** (power + 1) for power, suffix in enumerate(("k", "M", "G", "T", "P", "E"))},
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
}

Path = tuple[str | int, ...]


def prune(live: Any, shape: Any) -> Any:
    """Return the live value without what `shape` does not have: the server's defaults and other owners' fields.

    Lists are matched by position and cut to the shape's length (the official provider's rule), so an element that
    somebody else appended is not drift.
    """
    if isinstance(live, dict) and isinstance(shape, dict):
        return {key: prune(value, shape[key]) for key, value in live.items() if key in shape}
    if isinstance(live, list) and isinstance(shape, list):
        return [prune(value, template) for value, template in zip(live, shape, strict=False)]
    return live


def same(old: Any, new: Any, path: Path, *, builtin: bool) -> bool:
    """Whether two leaves mean the same. For builtin kinds quantities are compared by what they amount to."""
    if isinstance(old, bool) or isinstance(new, bool):
        return type(old) is type(new) and bool(old == new)
    if old == new:
        return True
    if not builtin or not any(step in _QUANTITIES for step in path):
        return False
    old_amount, new_amount = quantity(old), quantity(new)
    return old_amount is not None and old_amount == new_amount


def quantity(value: Any) -> Decimal | None:
    """Say what a Kubernetes quantity (`8`, `"500m"`, `"1.5Gi"`, `"1e3"`) amounts to; None if it is not one."""
    if isinstance(value, int | float):
        return Decimal(str(value))
    if not isinstance(value, str):
        return None
    number = value.rstrip("KMGTPEikmnu")
    try:
        return Decimal(number) * _SUFFIXES[value[len(number) :]]
    except (InvalidOperation, KeyError):
        return None


def is_nothing(value: Any) -> bool:
    """Whether the server drops this value of an optional field (false, 0, empty text, list or map)."""
    return value is MISSING or value in (False, 0, "", [], {})
