"""A model as tables of its fields: one for itself, and one for each model inside it."""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from components.base.model import merging_keys
from core.project import PRODUCT
from toolkit.render.reference import markdown, type_text, value_types
from toolkit.render.reference.value_types import ValueType

ModelType = type[BaseModel]
_WORTH = 2
"""Rows that a table of its own must save."""
ROOT = PRODUCT
PACKAGES = tuple(ROOT / name for name in ("components", "stacks", "core"))
HEADS = ("field", "type", "default", "what it is")


@dataclass(frozen=True)
class SharedBases:
    """The bases with tables of their own, each with the models of the page that have its fields."""

    users: Mapping[ModelType, Sequence[ModelType]]

    def own(self, model: ModelType) -> list[str]:
        """Return the fields of a model that no base's table describes."""
        bases = self._above(model)
        return [name for name in model.model_fields if not any(_same(model, base, name) for base in bases)]

    def nearest(self, model: ModelType) -> list[ModelType]:
        """Return the bases whose fields a model has, without those that these have as bases themselves."""
        bases = self._above(model)
        return [base for base in bases if not any(base in other.__mro__[1:] for other in bases)]

    def _above(self, model: ModelType) -> list[ModelType]:
        return [base for base in model.__mro__[1:] if base in self.users]


def shared_bases(models: Iterable[ModelType]) -> SharedBases:
    """Return the bases that models of a page share; of two that the same models have, the one with more fields."""
    users: dict[ModelType, tuple[ModelType, ...]] = {}
    for model in models:
        for base in model.__mro__:
            if issubclass(base, BaseModel) and base.model_fields:
                users[base] = (*users.get(base, ()), model)
    several = {base: having for base, having in users.items() if len(having) > 1}
    widest = {
        base: having
        for base, having in several.items()
        if not any(base in other.__mro__[1:] and having == several[other] for other in several)
    }
    bases = SharedBases(widest)
    return SharedBases(
        {base: having for base, having in widest.items() if (len(having) - 1) * len(bases.own(base)) >= _WORTH}
    )


def _same(model: ModelType, base: ModelType, name: str) -> bool:
    return name in base.model_fields and _declaring(model, name) is _declaring(base, name)


def _declaring(model: ModelType, name: str) -> type:
    return next(kind for kind in model.__mro__ if name in inspect.get_annotations(kind))


@dataclass
class Part:
    """A model, and the paths of the fields that hold it."""

    model: type[BaseModel]
    paths: list[str] = field(default_factory=list)
    variants: list[str] = field(default_factory=list)


@cache
def named() -> Mapping[int, ValueType]:
    """Return the named value types of the program, by identity."""
    return value_types.by_identity(PACKAGES)


def parts(model: type[BaseModel]) -> list[Part]:
    """Return a model and all models inside it, each once, in the order in which a reader meets them."""
    by_model: dict[type[BaseModel], Part] = {}

    def visit(current: type[BaseModel], path: str, variant: str) -> None:
        is_repeated = current in by_model
        part = by_model.setdefault(current, Part(current))
        if path and path not in part.paths:
            part.paths.append(path)
        if variant and variant not in part.variants:
            part.variants.append(variant)
        if is_repeated:
            return
        for name, annotation in annotations(current).items():
            discriminator = current.model_fields[name].discriminator or _discriminator(annotation)
            below = f"{path}.{name}".lstrip(".") + _repeated(annotation)
            for inner in type_text.models(annotation):
                by = discriminator if isinstance(discriminator, str) else None
                value = type_text.variant(inner, by)
                visit(inner, below, f"{by}: {value}" if value else "")

    visit(model, "", "")
    return list(by_model.values())


def annotations(model: type[BaseModel]) -> dict[str, Any]:
    """Return the annotations of a model's fields as they are written, those of base classes first."""
    written: dict[str, Any] = {}
    for base in reversed(model.__mro__):
        written |= inspect.get_annotations(base)
    return {name: written[name] for name in model.model_fields}


def fields(model: type[BaseModel], link: type_text.Link, without: type[BaseModel] = BaseModel) -> str:
    """Return the table of a model's fields, but for those that it has from another."""
    return _table(model, [name for name in annotations(model) if name not in without.model_fields], link)


def link(model: type[BaseModel]) -> str:
    """Return the link to a model's heading on the same page."""
    return f"[{model.__name__}](#{markdown.anchor(model.__name__)})"


def document(model: type[BaseModel], *, level: int) -> str:
    """Return the table of `model` without a heading, and under headings of `level` those of the models inside.

    Fields that several models have from one base are in its table alone, which is before that of the first.
    """
    model_parts = parts(model)
    bases = shared_bases(part.model for part in model_parts)
    sections = {model: _own_fields(model_parts[0], bases)}
    for part in model_parts[1:]:
        for base in reversed(part.model.__mro__[1:]):
            if base in bases.users and base not in {other.model for other in model_parts}:
                sections.setdefault(base, _section(Part(base), f"Fields of {_links(bases.users[base])}.", bases, level))
        sections[part.model] = _section(part, _lead(part), bases, level)
    values = _values([part.model for part in model_parts])
    return "\n\n".join([*sections.values(), *([f"{'#' * level} Values\n\n{values}"] if values else ())])


def undescribed(model: type[BaseModel]) -> list[str]:
    """Return the fields, as Model.field, of which a table can only give name and type.

    A field whose model has a description needs none, nor does one that only distinguishes variants.
    """
    return [
        f"{part.model.__name__}.{name}"
        for part in parts(model)
        for name, annotation in annotations(part.model).items()
        if not part.model.model_fields[name].description
        and not _about_the_only(type_text.models(annotation))
        and not any(f"{name}: " in variant for variant in part.variants)
    ]


def _section(part: Part, lead: str, bases: SharedBases, level: int) -> str:
    about = markdown.flowing(part.model.__doc__ or "")
    return f"{'#' * level} {part.model.__name__}\n\n{f'{lead} {about}'.rstrip()}\n\n{_own_fields(part, bases)}"


def _lead(part: Part) -> str:
    places = ", ".join(f"`{path}`" for path in part.paths)
    return f"At {places}{''.join(f', with `{variant}`' for variant in part.variants)}."


def _own_fields(part: Part, bases: SharedBases) -> str:
    """Return a model's table, and where its other fields are; the lead has the field that chooses a variant."""
    names = [name for name in bases.own(part.model) if not _chooses(part, name)]
    further = f"Further fields: {_links(bases.nearest(part.model))}." if bases.nearest(part.model) else ""
    if not names:
        return further or "No further fields."
    return "\n\n".join(filter(None, (_table(part.model, names, link), further)))


def _chooses(part: Part, name: str) -> bool:
    """Say whether a field's only value is the one by which the lead of its model says that it is chosen."""
    annotation = part.model.model_fields[name].annotation
    values = [type_text.scalar(value) for value in get_args(annotation)] if get_origin(annotation) is Literal else []
    return len(values) == 1 and f"{name}: {values[0]}" in part.variants


def _links(models: Iterable[type[BaseModel]]) -> str:
    return ", ".join(map(link, models))


def _table(model: type[BaseModel], names: Iterable[str], link: type_text.Link) -> str:
    written = annotations(model)
    return markdown.table(HEADS, (_row(model, name, written[name], link) for name in names))


def _row(model: type[BaseModel], name: str, annotation: Any, link: type_text.Link) -> tuple[str, ...]:
    info = model.model_fields[name]
    description = info.description or _about_the_only(type_text.models(annotation))
    titles = {identity: value_type.title for identity, value_type in named().items()}
    by = info.discriminator if isinstance(info.discriminator, str) else None
    plain = type_text.plain(annotation, titles, link, by)
    unit = type_text.unit(name, annotation, description)
    merging = f"merged by {' and '.join(f'`{key}`' for key in keys)}" if (keys := merging_keys(info)) else ""
    type_ = ", ".join(filter(None, (plain, unit if unit not in plain else "", type_text.bounds(info), merging)))
    return (f"`{name}`", type_, type_text.default(info), description)


def _about_the_only(models: list[type[BaseModel]]) -> str:
    """Return the first sentence about a field's model, for a field without a description."""
    if len(models) != 1:
        return ""
    first = " ".join(inspect.cleandoc(models[0].__doc__ or "").partition("\n\n")[0].split())
    return first.partition(". ")[0].removesuffix(".")


def _values(models: list[type[BaseModel]]) -> str:
    used = {
        id(inner): named()[id(inner)]
        for model in models
        for annotation in annotations(model).values()
        for inner in _inside(annotation)
        if id(inner) in named()
    }
    rows = [
        (value_type.title, value_type.text, f"`{value_type.pattern}`" if value_type.pattern else "")
        for value_type in sorted(used.values(), key=lambda value_type: value_type.title.lower())
    ]
    return markdown.table(("type", "what it is", "pattern"), rows) if rows else ""


def _inside(annotation: Any) -> Iterator[Any]:
    yield annotation
    if id(annotation) not in named():
        for part in get_args(annotation):
            yield from _inside(part)


def _discriminator(annotation: Any) -> Any:
    discriminators = (getattr(item, "discriminator", None) for item in _inside(annotation))
    return next((item for item in discriminators if item), None)


def _repeated(annotation: Any) -> str:
    """Return `[]` for a list and `.*` for a map, as the path of what is in it goes on."""
    bare = type_text.unannotated(annotation)
    origin = get_origin(bare)
    if origin in type_text.SEVERAL:
        return "[]"
    if origin is dict or origin is Mapping:
        return ".*"
    return (
        next((mark for part in get_args(bare) if (mark := _repeated(part))), "") if type_text.is_union(origin) else ""
    )
