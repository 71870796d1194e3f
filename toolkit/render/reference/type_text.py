"""Types, bounds and defaults of fields as plain text."""

import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from enum import StrEnum
from inspect import isclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types
import yaml
from pydantic import AwareDatetime, BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined, to_jsonable_python

from core.model import LEFT_OUT

Link = Callable[[type[BaseModel]], str]
"""Returns the link to another model from the page at hand."""
_PLAIN: Mapping[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    Any: "any value",
    IPv4Address: "IPv4 address",
    IPv4Interface: "IPv4 address/prefix",
    IPv4Network: "IPv4 subnet",
    AwareDatetime: "time",
}
_LISTED = 4
"""Values of a discriminator that are listed one by one; of more the first and the last are."""
SEVERAL = (tuple, list, set, frozenset, Sequence, Iterable)
"""Origins of types that hold several values of one kind."""
_SUFFIXES = {
    "_gib": "GiB",
    "_mib": "MiB",
    "_gb": "GB",
    "_bytes": "bytes",
    "_gbs": "GB/s",
    "_gb_s": "GB/s",
    "_mb_s": "MB/s",
    "_gbps": "Gb/s",
    "_mbps": "Mb/s",
    "_mhz": "MHz",
    "_us": "us",
    "images_per_s": "images/s",
    "items_per_s": "items/s",
    "_percent": "percent",
    "_watts": "W",
    "_power_w": "W",
    "_kg": "kg",
}
_UNITS = (
    "seconds",
    "bytes",
    "GiB",
    "MiB",
    "GPUs",
    "logical CPUs",
    "CPUs",
    "pods",
    "nodes",
    "inodes",
    "Gb/s",
    "W",
    "percent",
    "degrees Celsius",
)
"""Units with which a description of a number may begin."""


def is_union(origin: Any) -> bool:
    """Return whether the origin of a type is a union."""
    return origin in (Union, types.UnionType)


def unannotated(annotation: Any) -> Any:
    """Return the type without what is annotated to it."""
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def models(annotation: Any) -> list[type[BaseModel]]:
    """Return the models in a type, in their order."""
    if isclass(annotation) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in models(part)]


def plain(annotation: Any, named: Mapping[int, str], link: Link, discriminator: str | None = None) -> str:
    """Return a type as plain text; `named` has the names of the value types by identity, `link` shows a model."""
    if id(annotation) in named:
        return named[id(annotation)]
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        field = next((item for item in parts[1:] if isinstance(item, FieldInfo)), None)
        by = field.discriminator if field else discriminator
        return plain(parts[0], named, link, by if isinstance(by, str) else discriminator)
    if is_union(origin) or origin is Literal or (isclass(annotation) and issubclass(annotation, StrEnum)):
        return _either(list(_choices(annotation, named, link, discriminator)))
    if origin in (dict, Mapping) or (isclass(origin) and issubclass(origin, Mapping)):
        return f"map of {plain(parts[0], named, link)} to {plain(parts[1], named, link)}"
    if origin in SEVERAL:
        kinds = [part for part in parts if part is not Ellipsis]
        return "list of " + _either([plain(part, named, link, discriminator) for part in kinds])
    return _single(annotation, link, discriminator)


def _choices(annotation: Any, named: Mapping[int, str], link: Link, discriminator: str | None) -> Iterator[str]:
    """Yield what a union or a choice of values offers, `null` last."""
    if get_origin(annotation) is Literal and id(annotation) not in named:
        yield from (f"`{scalar(value)}`" for value in get_args(annotation))
    elif isclass(annotation) and issubclass(annotation, StrEnum):
        yield from (f"`{scalar(item.value)}`" for item in annotation)
    elif is_union(get_origin(annotation)):
        for part in sorted(get_args(annotation), key=lambda part: part is types.NoneType):
            yield from _choices(part, named, link, discriminator)
    else:
        yield plain(annotation, named, link, discriminator)


def _single(annotation: Any, link: Link, discriminator: str | None) -> str:
    if annotation is types.NoneType:
        return "`null`"
    if isclass(annotation) and issubclass(annotation, BaseModel):
        value = variant(annotation, discriminator)
        return f"{link(annotation)} (`{discriminator}: {value}`)" if value else link(annotation)
    if is_dataclass(annotation) and isclass(annotation):
        return "API kind"
    if annotation not in _PLAIN:
        raise LookupError(f"{annotation} has no plain text; add it to toolkit.render.reference.type_text._PLAIN")
    return _PLAIN[annotation]


def variant(model: type[BaseModel], discriminator: str | None) -> str:
    """Return the value of the discriminator that means this model; empty if there is none."""
    field = model.model_fields.get(discriminator or "")
    if field is None or get_origin(field.annotation) is not Literal:
        return ""
    values = [scalar(value) for value in get_args(field.annotation)]
    return " or ".join(values) if len(values) <= _LISTED else f"{values[0]} to {values[-1]}"


def bounds(field: FieldInfo) -> str:
    """Return the bounds of a number or of a list's length, in words; empty without any."""
    constraints: dict[str, Any] = {}
    for item in field.metadata:
        for name in ("ge", "gt", "le", "lt", "min_length", "max_length"):
            if isinstance(item, annotated_types.BaseMetadata) and getattr(item, name, None) is not None:
                constraints[name] = getattr(item, name)
    low = constraints.get("ge", constraints["gt"] + 1 if "gt" in constraints else None)
    high = constraints.get("le", constraints["lt"] - 1 if "lt" in constraints else None)
    shortest, longest = constraints.get("min_length"), constraints.get("max_length")
    if shortest == 1 and longest is None:
        return "not empty"
    low, high = (shortest, longest) if low is None and high is None else (low, high)
    if low is not None and high is not None:
        return f"{low:,} to {high:,}"
    if low is not None:
        return f"at least {low:,}"
    return f"at most {high:,}" if high is not None else ""


def unit(name: str, annotation: Any, description: str) -> str:
    """Return the unit of a number: from the end of the field's name, or from the beginning of its description."""
    kinds = {unannotated(part) for part in _flat(annotation)}
    if not kinds & {int, float}:
        return ""
    suffix = next((unit for end, unit in _SUFFIXES.items() if name.endswith(end)), "")
    beginning = next(
        (
            unit
            for unit in _UNITS
            if description == unit or description.startswith(tuple(f"{unit}{mark}" for mark in ";,: "))
        ),
        "",
    )
    return suffix or beginning


def default(field: FieldInfo) -> str:
    """Return the default as YAML in one line, or in words where null is another value; `required` without one."""
    if field.is_required():
        return "required"
    if isinstance(field.json_schema_extra, dict) and LEFT_OUT in field.json_schema_extra:
        return str(field.json_schema_extra[LEFT_OUT])
    value = field.get_default(call_default_factory=True, validated_data={})
    return f"`{scalar(_plain(value))}`"


def scalar(value: Any) -> str:
    """Return a value as YAML writes it in one line."""
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False)
    return str(text).removesuffix("\n").removesuffix("\n...")


def _plain(value: Any) -> Any:
    if value is PydanticUndefined:
        raise ValueError("a default that cannot be known without other fields is not for a table")
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_defaults=True)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain(item) for item in value]
    return to_jsonable_python(value)


def _flat(annotation: Any) -> list[Any]:
    bare = unannotated(annotation)
    if is_union(get_origin(bare)):
        return [part for argument in get_args(bare) for part in _flat(argument)]
    return [bare]


def _either(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"
