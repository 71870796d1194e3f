"""The base of all records, settings and arguments of the project, and results that are stored by identity.

The hash of a large record takes as long as what is computed from it.
"""

import operator
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

from pydantic import BaseModel, ConfigDict

MERGED_BY = "x-merged-by"
"""In `json_schema_extra` of a list: the fields that its entries are known by."""

LEFT_OUT = "x-left-out"
"""In `json_schema_extra` of a field whose null means something else than leaving it out: what leaving it out means."""


class Model(BaseModel):
    """A frozen record that refuses unknown fields."""

    # Built when first used, inner ones with what holds them: most records are never checked by themselves, and building
    # all of them is a third of the imports of the program (CPU time 0.25 s, now 0.11 s and 0.09 s for those in use).
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def merged_by(*fields: str) -> dict[str, Any]:
    """Return what marks a list, as `json_schema_extra`: over a base, entries with the same `fields` merge."""
    return {MERGED_BY: list(fields)}


def left_out(meaning: str) -> dict[str, Any]:
    """Return what says, as `json_schema_extra`, what a field is that is left out, where null means something else."""
    return {LEFT_OUT: meaning}


P = ParamSpec("P")
R = TypeVar("R")


class _Objects:
    """Positional arguments, equal only to the same objects."""

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self.arguments = arguments

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Objects) and all(map(operator.is_, self.arguments, other.arguments))

    def __hash__(self) -> int:
        return hash(tuple(map(id, self.arguments)))


def by_identity(results: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Store the last `results` of a function by the identity of its positional arguments."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @lru_cache(maxsize=results)
        def stored(objects: _Objects) -> R:
            return function(*objects.arguments)  # type: ignore[call-arg]

        @wraps(function)
        def call(*arguments: P.args, **_: P.kwargs) -> R:
            return stored(_Objects(arguments))

        return call

    return decorate
