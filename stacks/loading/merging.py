"""Settings over settings, as their models say.

Maps merge by key. A list merges where its field says by what (`model.merged_by`): entries with the same key
merge, in the order of the base, and new ones follow. Everything else takes the place of what the base has: other lists,
single values, null, and a map that chooses another form than the base's (another `kind` of fabric).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from components.base.model import merging_keys
from stacks.loading.field_names import models_of
from stacks.settings.origins import Part

Models = Sequence[type[BaseModel]]
"""Those that a map may be of; none where only the data says what is in it."""


def merged(base: Part, own: Part, models: Models) -> Part:
    """Return `own` over `base`, both data of one of `models`."""
    if not isinstance(base.content, dict) or not isinstance(own.content, dict):
        return own
    chosen = _common_models(base, own, models)
    if chosen is None:
        return own
    order = [name for model in chosen for name in model.model_fields]
    keys = sorted(own.content | base.content, key=lambda key: order.index(key) if key in order else len(order))
    return replace(
        own,
        content={
            key: _field(base.content[key], own.content[key], _info(chosen, key))
            if key in base.content and key in own.content
            else own.content.get(key) or base.content[key]
            for key in keys
        },
    )


def left_out(base: Part, path: str, models: Models) -> Part | None:
    """Return `base` without what is at `path`, where an entry of a list that merges is named by its key.

    None where there is nothing at that path.
    """
    if not isinstance(base.content, dict):
        return None
    for key, part in base.content.items():
        if path == str(key):
            return replace(base, content={name: value for name, value in base.content.items() if name != key})
        if not path.startswith(f"{key}."):
            continue
        info, rest = _info(models, key), path.removeprefix(f"{key}.")
        inner = () if _names_entries(info) else _models(info)
        less = _entry_out(part, rest, inner, _keys(info)) if _keys(info) else left_out(part, rest, inner)
        if less is not None:
            return replace(base, content=base.content | {key: less})
    return None


def _entry_out(base: Part, path: str, models: Models, keys: Sequence[str]) -> Part | None:
    for index, part in enumerate(base.content if isinstance(base.content, list) else ()):
        key = ".".join(map(str, _key(part, keys) or ()))
        if path == key:
            return replace(base, content=base.content[:index] + base.content[index + 1 :])
        if key and path.startswith(f"{key}.") and (less := left_out(part, path.removeprefix(f"{key}."), models)):
            return replace(base, content=[*base.content[:index], less, *base.content[index + 1 :]])
    return None


def _field(base: Part, own: Part, info: FieldInfo | None) -> Part:
    keys = _keys(info)
    if keys and isinstance(base.content, list) and isinstance(own.content, list):
        return replace(own, content=[*_entries(base.content, own.content, keys, _models(info))])
    if _names_entries(info) and isinstance(base.content, dict) and isinstance(own.content, dict):
        both = base.content.keys() & own.content.keys()
        entries = {key: merged(base.content[key], own.content[key], _models(info)) for key in both}
        return replace(own, content=base.content | own.content | entries)
    return own if keys else merged(base, own, _models(info))


def _entries(base: list[Part], own: list[Part], keys: Sequence[str], models: Models) -> Iterator[Part]:
    """Yield the entries of both; one whose key its file has already stays as it is, to be refused as a duplicate."""
    first: dict[Any, Part] = {}
    for entry in own:
        first.setdefault(_key(entry, keys), entry)
    first.pop(None, None)
    merging = set()
    for part in base:
        over = first.pop(_key(part, keys), None)
        merging.add(id(over))
        yield part if over is None else merged(part, over, models)
    yield from (entry for entry in own if id(entry) not in merging)


def _key(entry: Part, keys: Sequence[str]) -> tuple[Any, ...] | None:
    """Return what an entry is known by; None for one that lacks a part of it."""
    fields = tuple(entry.content.get(key) for key in keys) if isinstance(entry.content, dict) else ()
    values = tuple(part.content for part in fields if part is not None and not isinstance(part.content, dict | list))
    return values if len(values) == len(keys) else None


def _common_models(base: Part, own: Part, models: Models) -> Models | None:
    """Return the models of which the two together are; None where they are of different ones."""
    by = next(iter(_tags(models)), None)
    if by is None:
        return models
    tags = [part.content[by].plain for part in (base, own) if by in part.content]
    if len(set(map(repr, tags))) > 1:
        return None
    return [model for model in models if tags and tags[0] in get_args(model.model_fields[by].annotation)] or models


def _tags(models: Models) -> Iterator[str]:
    """Yield the fields by which several models are distinguished."""
    if len(models) > 1:
        for name in models[0].model_fields:
            infos = [model.model_fields.get(name) for model in models]
            if all(info is not None and get_origin(info.annotation) is Literal for info in infos):
                yield name


def _info(models: Models, key: str) -> FieldInfo | None:
    return next((model.model_fields[key] for model in models if key in model.model_fields), None)


def _models(info: FieldInfo | None) -> Models:
    return [*models_of(info)] if info else ()


def _names_entries(info: FieldInfo | None) -> bool:
    """Say whether a field is a map whose keys are names of entries, and no fields of a model."""
    return info is not None and get_origin(info.annotation) in (dict, Mapping)


def _keys(info: FieldInfo | None) -> Sequence[str]:
    return merging_keys(info) if info else ()
