"""Inputs in the form that they have as Go values of their kind: what the official provider stores of them (pure).

It reads the inputs of a builtin kind into the Go type of that kind and writes them out again: values that Go leaves
out (false, 0, empty) go, unless a pointer has them; quantities and base64 get their usual form; fields that the kind
does not have go. Inputs that do not fit the type, and those with unknown values, stay as they are.

`go_types.txt` has a type on each line: `group/version/Kind` or a name, and its fields as `name=mark`, or `name!=mark`
where Go leaves the field out when it is empty. Marks: `$` text, `#` number, `?` true or false, `%` quantity, `@` time,
`^` bytes, `:Name` a type, nothing for anything; behind a mark `[]`, `{}` and `*` for a list, an object and a pointer.
Facts of the Kubernetes API (k8s.io/api 0.36).
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from toolkit.engine.prediction.values import MISSING, Properties, has_unknown, prune

_READ_ONLY = (
    *("creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields"),
    *("resourceVersion", "uid"),
)
_FORM = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([KMGTPE]i)|([numkMGTPE]))?")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_POWERS = {suffix: power for power, suffix in _DECIMAL.items()}


class _MismatchError(Exception):
    """A value does not fit its Go type."""


@dataclass(frozen=True, slots=True)
class _Field:
    mark: str
    omitted_when_empty: bool


@cache
def _types() -> Mapping[str, Mapping[str, _Field]]:
    types: dict[str, dict[str, _Field]] = {}
    for line in Path(__file__).with_name("go_types.txt").read_text().splitlines():
        name, *fields = line.split(" ")
        pairs = (field.split("=", 1) for field in fields)
        types[name] = {key.removesuffix("!"): _Field(mark, key.endswith("!")) for key, mark in pairs}
    return types


def known_fields(api_version: str, kind: str) -> frozenset[str] | None:
    """Return the fields that a program can give a builtin kind at the top; None for other kinds."""
    fields = _types().get(f"{api_version}/{kind}")
    if (api_version, kind) == ("apiextensions.k8s.io/v1", "CustomResourceDefinition"):
        return frozenset({"apiVersion", "kind", "metadata", "spec"})
    return None if fields is None else frozenset({"apiVersion", "kind", *fields})


def normalized(inputs: Properties) -> Properties:
    """Return plain inputs in their typed form, without what only the server sets."""
    result = inputs if has_unknown(inputs) else _typed(inputs)
    metadata = result.get("metadata")
    if not isinstance(metadata, dict):
        return result
    return {**result, "metadata": {key: value for key, value in metadata.items() if key not in _READ_ONLY}}


def _typed(inputs: Properties) -> Properties:
    version, kind = inputs.get("apiVersion"), inputs.get("kind")
    if not isinstance(version, str) or not isinstance(kind, str):
        return inputs
    if kind == "Secret" and version in ("v1", "core/v1"):
        return _secret(inputs)
    if kind == "CustomResourceDefinition" and version.startswith("apiextensions.k8s.io/"):
        return _definition(inputs)
    fields = _types().get(f"{version}/{kind}")
    if fields is None:
        return inputs
    body = {key: value for key, value in inputs.items() if key not in ("apiVersion", "kind")}
    try:
        shaped = _object(body, fields)
    except _MismatchError:
        return inputs
    pruned: Properties = prune({"apiVersion": version, "kind": kind, **shaped}, inputs)
    return {key: pruned[key] for key in inputs if key in pruned}


def _secret(inputs: Properties) -> Properties:
    texts, data = inputs.get("stringData"), inputs.get("data")
    data = dict(data) if isinstance(data, dict) else {}
    if isinstance(texts, dict) and texts and all(isinstance(text, str) for text in texts.values()):
        encoded = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
        others = {key: value for key, value in inputs.items() if key != "stringData"}
        return {**others, "data": {**data, **encoded}}
    if not data:
        return inputs
    return {**inputs, "data": {key: _bytes(value) for key, value in data.items()}}


def _bytes(value: Any) -> Any:
    """Return base64 as the server writes it; what is none is the server's to refuse."""
    if not isinstance(value, str):
        return value
    try:
        return base64.b64encode(base64.b64decode("".join(value.split()), validate=True)).decode()
    except binascii.Error:
        return value


def _definition(inputs: Properties) -> Properties:
    result = {key: value for key, value in inputs.items() if key != "status"}
    spec = result.get("spec")
    if isinstance(spec, dict) and spec.get("preserveUnknownFields") is False:
        result["spec"] = {key: value for key, value in spec.items() if key != "preserveUnknownFields"}
    return result


def _object(value: Any, fields: Mapping[str, _Field]) -> Properties:
    if not isinstance(value, dict):
        raise _MismatchError
    typed = {key: _field(item, fields[key]) for key, item in value.items() if key in fields}
    return {key: item for key, item in typed.items() if item is not MISSING}


def _field(value: Any, field: _Field) -> Any:
    if value is None:
        return MISSING if field.omitted_when_empty else None
    shaped = _value(value, field.mark)
    keeps_empty = not field.mark or field.mark[-1] in "*%" or (field.mark[0] == ":" and field.mark[-1] not in "]}")
    if field.omitted_when_empty and not keeps_empty and not shaped:
        return MISSING
    return shaped


def _value(value: Any, mark: str) -> Any:
    if mark.endswith("*"):
        return _value(value, mark[:-1])
    if mark.endswith("[]"):
        if not isinstance(value, list):
            raise _MismatchError
        return [_value(item, mark[:-2]) for item in value]
    if mark.endswith("{}"):
        if not isinstance(value, dict):
            raise _MismatchError
        return {key: _value(item, mark[:-2]) for key, item in value.items()}
    if mark.startswith(":"):
        return _object(value, _types()[mark[1:]])
    return _scalar(value, mark)


def _scalar(value: Any, mark: str) -> Any:
    is_flag, is_number = isinstance(value, bool), isinstance(value, int | float)
    match mark:
        case "%":
            amount = None if is_flag else canonical_quantity(value)
            if amount is None:
                raise _MismatchError
            return amount
        case "$" | "@" | "^" if not isinstance(value, str):
            raise _MismatchError
        case "#" if is_flag or not is_number:
            raise _MismatchError
        case "?" if not is_flag:
            raise _MismatchError
        case "^":
            return _bytes(value)
    return value


def canonical_quantity(value: Any) -> str | None:
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
