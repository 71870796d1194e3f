"""Results of functions of frozen objects, stored by the objects themselves.

The hash of a large record takes as long as what is computed from it.
"""

import operator
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

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
