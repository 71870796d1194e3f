"""The names of fields that the settings have at a place, for a name that they do not have there."""

from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel

_LAYOUT = ("layout", "layout: {pods, gpus}")
_MEANT = {"nodes": _LAYOUT, "pods": _LAYOUT, "replicas": _LAYOUT}
"""What users know by another name, or may spell like another field: its field, and how it is written."""


def closest(model: type[BaseModel], place: Sequence[str | int], present: Collection[str]) -> str | None:
    """Return the field that the last part of a place was probably meant to be; None where no name is close.

    `place` is a location of pydantic's, in which names of variants follow the fields that have them; `taken` are names
    that are written there already.
    """
    models = [model]
    for part in place[:-1]:
        models = below(models, part)
    fields = {name for variant in models for name in variant.model_fields}
    field, written = _MEANT.get(str(place[-1]), ("", ""))
    if field in fields:
        return None if field in present else written
    return next(iter(get_close_matches(str(place[-1]), sorted(fields - set(present)), n=1)), None)


def below(models: list[type[BaseModel]], part: str | int) -> list[type[BaseModel]]:
    """Return the models that the next part of a place leads to; of an index, a map's key or a plain field the same."""
    inner = [
        field_model
        for model in models
        if part in model.model_fields
        for field_model in models_of(model.model_fields[str(part)])
    ]
    return inner or [model for model in models if is_variant(model, part)] or models


def models_of(field: Any) -> Iterator[type[BaseModel]]:
    """Yield the models in the type of a field: of a list its items', of a union all."""
    waiting = [field.annotation]
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield kind
        waiting += get_args(kind)


def is_variant(model: type[BaseModel], name: str | int) -> bool:
    """Return whether a model is the variant of a union that pydantic calls so."""
    return any(name in get_args(field.annotation) for field in model.model_fields.values())
