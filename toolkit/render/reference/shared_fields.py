"""Fields that several models have from one base: its table describes them once."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

ModelType = type[BaseModel]
_WORTH = 2
"""Rows that a table of its own must save."""


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


def of(models: Iterable[ModelType]) -> SharedBases:
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
