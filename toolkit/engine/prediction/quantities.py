"""Kubernetes quantities (`8`, `"500m"`, `"1.5Gi"`) in the form in which the API server writes them (pure)."""

import re
from decimal import Decimal
from typing import Any

_FORM = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([KMGTPE]i)|([numkMGTPE]))?")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_POWERS = {suffix: power for power, suffix in _DECIMAL.items()}


def canonical(value: Any) -> str | None:
    """Return the quantity as the server writes it; None for what is not a quantity."""
    text = format(Decimal(str(value)), "f") if isinstance(value, int | float) else value
    match = _FORM.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    number, exponent, binary, decimal = match.groups()
    if binary:
        return _binary(Decimal(number) * 1024 ** _BINARY.index(binary))
    power = int(exponent[1:]) if exponent else _POWERS[decimal or ""]
    return _decimal(Decimal(number).scaleb(power), as_exponent=bool(exponent))


def _binary(amount: Decimal) -> str:
    """Return the amount with the largest suffix that leaves a whole number; below 1024 as a decimal one."""
    if amount != amount.to_integral_value() or abs(amount) < 1024:  # noqa: PLR2004
        return _decimal(amount, as_exponent=False)
    whole, step = int(amount), 0
    while whole % 1024 == 0 and step < len(_BINARY) - 1 and whole:
        whole, step = whole // 1024, step + 1
    return f"{whole}{_BINARY[step]}"


def _decimal(amount: Decimal, *, as_exponent: bool) -> str:
    if not amount:
        return "0"
    power = 18
    while power > -9 and amount.scaleb(-power) != amount.scaleb(-power).to_integral_value():  # noqa: PLR2004
        power -= 3
    whole = int(amount.scaleb(-power).to_integral_value(rounding="ROUND_UP"))
    if as_exponent:
        return f"{whole}e{power}" if power else f"{whole}"
    return f"{whole}{_DECIMAL[power]}"
