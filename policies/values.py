"""Plain trees out of whatever a rule is given.

The policy SDK hands over proxies that are neither dict nor list and that raise `UnknownValueError` on the first touch
of a value which a preview does not know yet. One such exception leaving a policy turns all of it into an advisory
remark, and a mandatory rule then passes. So the tree is copied once, and every unknown value becomes an `Unknown` that
says where it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

from pulumi_policy import proxy

Tree: TypeAlias = Any  # a JSON-like value, perhaps with `Unknown`s or the SDK's proxies in it

_SENTINELS = frozenset(
    {
        proxy.UNKNOWN_BOOLEAN_VALUE,
        proxy.UNKNOWN_NUMBER_VALUE,
        proxy.UNKNOWN_STRING_VALUE,
        proxy.UNKNOWN_ARRAY_VALUE,
        proxy.UNKNOWN_ASSET_VALUE,
        proxy.UNKNOWN_ARCHIVE_VALUE,
        proxy.UNKNOWN_OBJECT_VALUE,
    }
)

_SUFFIXES = {
    **{
        suffix: Decimal(10) ** exponent
        for suffix, exponent in zip("numkMGTPE", (-9, -6, -3, 3, 6, 9, 12, 15, 18), strict=True)
    },
    **{f"{suffix}i": Decimal(1024) ** exponent for exponent, suffix in enumerate("KMGTPE", start=1)},
}


@dataclass(frozen=True)
class Unknown:
    """A value that is not known before the update; `path` is where it sits, e.g. `spec.template`."""

    path: str


def plain(value: Tree, path: str = "") -> Tree:
    """Return `value` as dicts, lists and scalars: `Unknown` where it is unknown, integers for whole floats."""
    if isinstance(value, str):
        return Unknown(path) if value in _SENTINELS else value
    if isinstance(value, Mapping):
        return {key: _entry(value, key, f"{path}.{key}" if path else str(key)) for key in value}
    if isinstance(value, Sequence):
        return [_entry(value, index, f"{path}[{index}]") for index in range(len(value))]
    if isinstance(value, float) and value.is_integer():
        return int(value)  # the engine's wire format has floats only
    return value


def _entry(parent: Tree, key: str | int, path: str) -> Tree:
    try:
        return plain(parent[key], path)
    except proxy.UnknownValueError:
        return Unknown(path)


def whole(quantity: Tree) -> int | None:
    """Return a Kubernetes quantity as an integer, or None when it is not a whole number.

    Accepts what the API server accepts and what arrives through the engine: 8, 8.0, "8", "1k", "1000m", "1e1".
    """
    if isinstance(quantity, bool) or not isinstance(quantity, int | float | str):
        return None
    text = str(quantity).strip()
    suffix = next((known for known in sorted(_SUFFIXES, key=len, reverse=True) if text.endswith(known)), "")
    try:
        number = Decimal(text.removesuffix(suffix)) * _SUFFIXES.get(suffix, Decimal(1))
    except InvalidOperation:
        return None
    return int(number) if number.is_finite() and number == number.to_integral_value() else None
