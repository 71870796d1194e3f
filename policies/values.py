"""Values of manifests: where they stand, quantities, and values that are unknown until the update."""

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeAlias

Tree: TypeAlias = Any  # a JSON-like value, perhaps with `Unknown`s in it
Path: TypeAlias = tuple[str | int, ...]

_SUFFIXES = {
    **{
        suffix: Decimal(10) ** exponent
        for suffix, exponent in zip("numkMGTPE", (-9, -6, -3, 3, 6, 9, 12, 15, 18), strict=True)
    },
    **{f"{suffix}i": Decimal(1024) ** exponent for exponent, suffix in enumerate("KMGTPE", start=1)},
}
_LONGEST_QUANTITY = 64
_LARGEST_PLAIN = 10**_LONGEST_QUANTITY


@dataclass(frozen=True)
class Unknown:
    """A value that is unknown until the update; `path` is where it sits in its object."""

    path: Path


def show(path: Path) -> str:
    """Return a path as text: `spec.containers[0].resources.limits[rdma/shared_ib0]`."""
    shown = ""
    for key in path:
        if not isinstance(key, str) or not key.replace("-", "").replace("_", "").isalnum():
            shown += f"[{key if isinstance(key, str) else brief(key)}]"
        else:
            shown += f".{key}" if shown else key
    return shown


def brief(value: Tree) -> str:
    """Write a value for a message: on one line, shortened, whatever it is and however deep or long."""
    try:
        return reprlib.repr(value)
    except ValueError:  # an integer of more digits than Python writes; YAML reads it when it is hexadecimal
        return "a huge number"


def read(tree: Tree, *keys: str | int) -> Tree:
    """Follow `keys` into a plain tree: None when one is absent, the `Unknown` met first when there is one."""
    for key in keys:
        if tree.__class__ is dict or isinstance(tree, Mapping):  # the first answers ten times as fast
            tree = tree.get(key)
        elif isinstance(tree, list) and isinstance(key, int):
            tree = tree[key] if 0 <= key < len(tree) else None
        else:
            return tree if isinstance(tree, Unknown) else None
    return tree


def entries(tree: Tree, *keys: str | int) -> list[Tree]:
    """Return the list at `keys` in a tree; empty where there is none."""
    found = read(tree, *keys)
    return found if isinstance(found, list) else []


def mapping(tree: Tree, *keys: str | int) -> Mapping[str, Tree]:
    """Return the mapping at `keys` in a tree; empty where there is none."""
    found = read(tree, *keys)
    return found if isinstance(found, Mapping) else {}


def text(value: Tree) -> str:
    """Return a string as it is, `?` for an unknown value, and nothing for any other."""
    if isinstance(value, str):
        return value
    return "?" if isinstance(value, Unknown) else ""


def amount(quantity: Tree) -> Decimal | None:
    """Return a Kubernetes quantity as a number, or None when it is none.

    Accepts what the API server accepts and what arrives through the engine: 8, 8.0, "8", "1k", "1000m", "1e1".
    """
    if isinstance(quantity, bool) or not isinstance(quantity, int | float | str):
        return None
    if isinstance(quantity, int) and not -_LARGEST_PLAIN < quantity < _LARGEST_PLAIN:
        return None  # with more digits still, it could not even be written
    return _amount(str(quantity)) if len(str(quantity)) <= _LONGEST_QUANTITY else None


@lru_cache(maxsize=1024)
def _amount(quantity: str) -> Decimal | None:
    written = quantity.strip()
    suffix = next((known for known in (written[-2:], written[-1:]) if known in _SUFFIXES), "")
    try:
        number = Decimal(written.removesuffix(suffix)) * _SUFFIXES.get(suffix, Decimal(1))
    except ArithmeticError:  # what decimal raises for nonsense and for 1e999999999
        return None
    return number if number.is_finite() else None


def whole(quantity: Tree) -> int | None:
    """Return a Kubernetes quantity as an integer, or None when it is not a whole number."""
    if isinstance(quantity, int):
        return int(quantity) if quantity.__class__ is int and -_LARGEST_PLAIN < quantity < _LARGEST_PLAIN else None
    if not isinstance(quantity, float | str):
        return None
    return _whole(str(quantity)) if len(str(quantity)) <= _LONGEST_QUANTITY else None


@lru_cache(maxsize=1024)
def _whole(quantity: str) -> int | None:
    number = _amount(quantity)
    if number is None or abs(number.adjusted()) > _LONGEST_QUANTITY:
        return None
    return int(number) if number == number.to_integral_value() else None
