"""Kubernetes quantities as numbers: `8`, `"500m"`, `"1.5Gi"`, `"1e3"`."""

from decimal import Decimal
from functools import lru_cache

_SUFFIXES = {
    **{
        suffix: Decimal(10) ** exponent
        for suffix, exponent in zip("numkMGTPE", (-9, -6, -3, 3, 6, 9, 12, 15, 18), strict=True)
    },
    **{f"{suffix}i": Decimal(1024) ** exponent for exponent, suffix in enumerate("KMGTPE", start=1)},
}
_LONGEST = 64
_LARGEST_PLAIN = 10**_LONGEST
_SMALLEST_PLAIN = -_LARGEST_PLAIN


def amount(quantity: object) -> Decimal | None:
    """Return a Kubernetes quantity as a number, or None when it is none.

    Accepts what the API server accepts and what arrives through the engine: 8, 8.0, "8", "1k", "1000m", "1e1".
    """
    if isinstance(quantity, bool) or not isinstance(quantity, int | float | str):
        return None
    if isinstance(quantity, int) and not _SMALLEST_PLAIN < quantity < _LARGEST_PLAIN:
        return None  # with more digits still, it could not even be written
    return _amount(str(quantity)) if len(str(quantity)) <= _LONGEST else None


@lru_cache(maxsize=1024)
def _amount(quantity: str) -> Decimal | None:
    text = quantity.strip()
    suffix = next((ending for ending in (text[-2:], text[-1:]) if ending in _SUFFIXES), "")
    try:
        number = Decimal(text.removesuffix(suffix)) * _SUFFIXES.get(suffix, Decimal(1))
    except ArithmeticError:  # what decimal raises for nonsense and for 1e999999999
        return None
    return number if number.is_finite() else None


def parsed(quantity: str) -> Decimal:
    """Return a Kubernetes quantity as a number; raise ValueError where it is none."""
    number = amount(quantity)
    if number is None:
        raise ValueError(f"{quantity!r} is not a quantity; write e.g. 8, 500m or 1.5Gi")
    return number


def whole(quantity: object) -> int | None:
    """Return a Kubernetes quantity as an integer, or None when it is not a whole number."""
    if isinstance(quantity, int):
        return int(quantity) if quantity.__class__ is int and _SMALLEST_PLAIN < quantity < _LARGEST_PLAIN else None
    if not isinstance(quantity, float | str):
        return None
    return _whole(str(quantity)) if len(str(quantity)) <= _LONGEST else None


@lru_cache(maxsize=1024)
def _whole(quantity: str) -> int | None:
    number = _amount(quantity)
    if number is None or abs(number.adjusted()) > _LONGEST:
        return None
    return int(number) if number == number.to_integral_value() else None
