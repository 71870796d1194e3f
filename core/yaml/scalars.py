"""Plain YAML scalars as Kubernetes reads them (sigs.k8s.io/yaml): YAML 1.1 without its base 60 and its dates."""

import math
import re
from typing import TypeAlias

Scalar: TypeAlias = str | int | float | bool | None

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((f"{sign}{word}" for sign in ("", "+") for word in (".inf", ".Inf", ".INF")), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_NUMERIC = frozenset("0123456789+-.")
_BASES = {"x": 16, "o": 8, "b": 2}
_INTEGER = re.compile(r"([-+]?)(?:0([xXoObB])([0-9a-fA-F]+)|(0[0-7]+)|(0|[1-9][0-9]*))")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_LONGEST = 400
"""Characters of a number; a double has 309 digits at most, and Python reads long integers in quadratic time."""
_LOWEST, _HIGHEST = -(2**63), 2**64 - 1


def resolve(text: str) -> Scalar:
    """Return what a plain scalar stands for; a number that fits neither 64 bits nor a double stays text."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC or len(text) > _LONGEST:
        return text
    plain = text.replace("_", "")
    number: int | float | None = _integer(plain)
    if number is None and _FLOAT.fullmatch(plain):
        number = _double(text if text[0] == "." else plain)
        if number is not None and number.is_integer() and _LOWEST <= number <= _HIGHEST:
            return int(number)  # as JSON writes it
    return text if number is None else number


def _double(plain: str) -> float | None:
    try:
        number = float(plain)
    except ValueError:  # ._5: behind a leading point an underscore is between digits only
        return None
    return number if math.isfinite(number) else None


def _integer(plain: str) -> int | None:
    match = _INTEGER.fullmatch(plain)
    if match is None:
        return None
    sign, base, digits, octal, decimal = match.groups()
    try:
        number = int(digits or octal or decimal, _BASES[base.lower()] if base else 8 if octal else 10)
    except ValueError:  # 0b12
        return None
    number = -number if sign == "-" else number
    return number if _LOWEST <= number <= _HIGHEST else None
