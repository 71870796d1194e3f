"""What is wrong with single values of the settings, a line for each: its place, the value and the remedy."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from core import data_files, field_errors
from core.yaml import places
from stacks.loading import field_names, field_places
from stacks.loading.bases import Whole
from stacks.settings.tenants import NAMES_OF_FORMS

_SECRET = re.compile(r"secret|passw|token|credential|login", re.IGNORECASE)
"""Names of fields whose values are not shown: users may write a secret into one that describes it."""
_MISSING = "; add it: docs/reference/settings.md describes it"
_NO_TENANTS = (
    "; name one, or write `layer: platform` in place of it: a platform without tenants (docs/guide/several-stacks.md)",
    "; name one: the last tenant is removed with its whole stack (docs/guide/several-stacks.md)",
)
"""Of a file with all layers, and of one with tenants alone."""


def lines(errors: ValidationError, whole: Whole, model: type[BaseModel]) -> list[str]:
    """Return the lines of what `model` refuses of the settings."""
    details = _without_consequences(data_files.causes(errors.errors(include_url=False)))
    causes = _as_written(details, whole.data)
    return list(dict.fromkeys(_line(error, whole, model) for error in causes))


def _without_consequences(errors: Sequence[Any]) -> Sequence[Any]:
    """Leave out what operators lack where the release is wrong, by which it would be filled in."""
    if all(error["loc"] != ("release",) for error in errors):
        return errors
    return [error for error in errors if error["type"] != "missing" or error["loc"][0] != "operators"]


def _as_written(errors: Sequence[Any], data: Any) -> Iterator[Any]:
    """Yield the errors with places as in the file, where a variant has its field."""
    for error in errors:
        at = field_places.as_written(error["loc"], data)
        match error:
            case {"type": "union_tag_invalid", "ctx": {"discriminator": field, "tag": tag}}:
                yield {**error, "loc": (*at, field.strip("'")), "input": tag}
            case {"type": "union_tag_not_found", "ctx": {"discriminator": field}}:
                yield {**error, "loc": (*at, field.strip("'")), "input": None}
            case _:
                yield {**error, "loc": at}


def _path(place: Sequence[str | int], data: Any, model: type[BaseModel]) -> Iterator[str | int]:
    """Yield the parts of a place as in the file: without the names of variants, which pydantic adds."""
    variant, models = None, [model]
    for index, part in enumerate(place):
        if part in NAMES_OF_FORMS:
            continue
        if isinstance(part, str) and isinstance(data, Mapping):
            # A variant may be called as one of its fields, a volume of kind claim has a claim, and as a key of a map.
            chosen = variant is not data and (part not in data or part in data.values())
            chosen = chosen and len(models) > 1 and any(field_names.is_variant(candidate, part) for candidate in models)
            models = field_names.below(models, part)
            if chosen or (part not in data and index + 1 < len(place)):
                variant = data
                continue
            data = data.get(part)
        elif isinstance(part, int) and isinstance(data, Sequence):
            data = data[part] if part < len(data) else None
        yield part


def _line(error: Any, whole: Whole, model: type[BaseModel]) -> str:
    place, data = [*_path(error["loc"], whole.data, model)], whole.data
    message = field_errors.problem(error)
    value, unknown = error["input"], error["type"] == "extra_forbidden"
    # Logs are read by many: the value of an unknown field, or of a secret's name, may be a secret.
    public = not unknown and not _SECRET.search(str(place[-1]) if place else "")
    public = public and not (isinstance(value, str) and len(value) > 1 and value in message)
    shown = f" (value: {value!r})" if public and isinstance(value, str | int | float | bool) else ""
    return f"  {whole.shown(place, of_key=unknown)}{message}{shown}{_remedy(error, place, data, model)}"


def _remedy(error: Any, place: Sequence[str | int], data: Any, model: type[BaseModel]) -> str:
    """Return what to do about an error whose message names only what is wrong; `place` is as in the file."""
    if error["loc"] == ("tenants",) and error["type"] in ("too_short", "missing"):
        return _NO_TENANTS["platform" in data]
    if error["type"] == "extra_forbidden":
        if former := field_names.remedy_of_former(place):
            return f"; {former}"
        meant = field_names.closest(model, error["loc"], _present_names(error["loc"][:-1], data))
        if meant is None and (deeper := field_names.inside(model, error["loc"])):
            meant = ".".join(filter(None, (places.path(place[:-1]), deeper)))
        return f"; did you mean {meant}?" if meant else field_errors.remedy(error)
    if error["type"] not in (*field_errors.OWN, "missing") and (former := _former_below(place, error["input"])):
        return f"; {former}"
    return _MISSING if error["type"] in ("missing", "union_tag_not_found") else field_errors.remedy(error)


def _former_below(place: Sequence[str | int], value: Any) -> str:
    """Return what to write in place of fields that a setting of another type had before; nothing of other values."""
    entries = enumerate(value) if isinstance(value, list | tuple) else [(None, value)]
    names: dict[str, list[str]] = {}
    for index, fields in entries:
        for name in fields if isinstance(fields, Mapping) else ():
            if remedy := field_names.remedy_of_former((*place, *(() if index is None else (index,)), name)):
                names.setdefault(remedy, []).append(str(name))
    return "; ".join(f"{' and '.join(dict.fromkeys(former))}: {remedy}" for remedy, former in names.items())


def _present_names(place: Sequence[str | int], data: Any) -> Collection[str]:
    """Return the names that are written at a place."""
    for part in place:
        if isinstance(part, int) or (isinstance(data, Mapping) and part in data):
            data = data[part]
    return data.keys() if isinstance(data, Mapping) else ()
