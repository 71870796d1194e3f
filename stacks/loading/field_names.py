"""The names of fields that the settings have at a place, for a name that they do not have there, or no more."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from core import data_files

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


def inside(model: type[BaseModel], place: Sequence[str | int]) -> str | None:
    """Return the only field next to the last part of a place that has a field of that name, with it: FIELD.NAME.

    None for a name that users know another field by.
    """
    models = [model]
    for part in place[:-1]:
        models = below(models, part)
    name = str(place[-1])
    fields = {
        field
        for each in models
        for field, info in each.model_fields.items()
        if not _repeats(info.annotation) and any(name in inner.model_fields for inner in models_of(info))
    }
    return f"{fields.pop()}.{name}" if len(fields) == 1 and name not in _MEANT else None


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


def _repeats(kind: Any) -> bool:
    """Say whether a type has a list or a map, whose entries a name alone does not lead to."""
    return get_origin(kind) in (tuple, list, dict) or any(map(_repeats, get_args(kind)))


def is_variant(model: type[BaseModel], name: str | int) -> bool:
    """Return whether a model is the variant of a union that pydantic calls so."""
    return any(name in get_args(field.annotation) for field in model.model_fields.values())


FORMER = Path(__file__).with_name("former_names.yaml")
_STEP = re.compile(r"\[\]|[^.\[\]]+")


def remedy_of_former(place: Sequence[str | int]) -> str | None:
    """Return what to write in place of a setting that is no more; None where the settings never had it."""
    for former, text in former_names().items():
        if _leads_to(former, place):
            return text
    return None


def former_names() -> Mapping[str, str]:
    """Return what to do about each former setting, by its place in the settings; `**` stands for any place."""
    tables = data_files.read(FORMER)
    renamed = {place: f"it is called {name} now" for place, name in tables["renamed"].items()}
    return renamed | {place: f"it was removed: {text}" for place, text in tables["removed"].items()}


def _leads_to(former: str, place: Sequence[str | int]) -> bool:
    steps = _STEP.findall(former)
    if steps[0] == "**":
        return bool(place) and place[-1] == steps[-1]
    return len(steps) == len(place) and all(
        step == "[]" if isinstance(part, int) else step in ("*", part) for step, part in zip(steps, place, strict=True)
    )
