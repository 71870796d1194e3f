"""Values of manifests: their paths, those that are unknown until the update and read by a rule, and label selectors."""

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

Tree: TypeAlias = Any  # a JSON-like value, perhaps with `Unknown`s in it
Path: TypeAlias = tuple[str | int, ...]


UNTIL_UPDATE = "is unknown until the update"


@dataclass(frozen=True)
class Unknown:
    """A value that is not known; `path` is where it sits in its object, and `reason` what a finding says of it.

    `reason` is empty where it is reported already. `decided_by` is the field that names what decides the value
    and is not among the objects, empty where that is no object.
    """

    path: Path
    reason: str = UNTIL_UPDATE
    decided_by: Path = ()


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


def is_mapping(tree: Tree) -> TypeGuard[Mapping[str, Any]]:
    """Return whether a tree is a mapping; most are dicts, for which this answers several times as fast."""
    return tree.__class__ is dict or isinstance(tree, Mapping)


def entries(tree: Tree, *keys: str | int) -> list[Tree]:
    """Return the list at `keys` in a tree; empty where there is none."""
    value = read(tree, *keys)
    return value if isinstance(value, list) else []


def mapping(tree: Tree, *keys: str | int) -> Mapping[str, Tree]:
    """Return the mapping at `keys` in a tree; empty where there is none."""
    value = read(tree, *keys)
    return value if is_mapping(value) else {}


def text(value: Tree) -> str:
    """Return a string as it is, `?` for an unknown value, and nothing for any other."""
    if isinstance(value, str):
        return value
    return "?" if isinstance(value, Unknown) else ""


class ReadLog:
    """The unknown values that one examination of an object has read.

    The checker makes one for each rule and object, examines a view of the object that writes into it (`Obj.logged`),
    and reports what it holds as undetermined. Objects that are read without a log record nothing.
    """

    def __init__(self, unknown: tuple[Unknown, ...]) -> None:
        self._unknown = unknown
        self._read: dict[Unknown, None] = {}

    @property
    def values(self) -> tuple[Unknown, ...]:
        """The values that were read, each once, in the order of the first reads."""
        return tuple(self._read)

    def add(self, path: Path, depth: int | None = None) -> None:
        """Record a read at `path`: the unknown values at it, above it, and at most `depth` levels below it."""
        for value in self._unknown:
            if (depth is None or len(value.path) <= len(path) + depth) and overlap(value.path, path):
                self._read[value] = None


def overlap(path: Path, other: Path) -> bool:
    """Return whether one path is the other, or leads to it."""
    length = min(len(path), len(other))
    return path[:length] == other[:length]


_EVERY: Mapping[str, str] = {}


def is_empty(selector: Tree) -> bool:
    """Return whether a selector has no condition, and so selects everything."""
    return isinstance(selector, Mapping) and not any(selector.values())


def selects(selector: Tree, labels: Mapping[str, object]) -> bool:
    """Return whether labels fit `matchLabels` and `matchExpressions`."""
    if not isinstance(selector, Mapping):
        return False
    match_labels, expressions = selector.get("matchLabels") or _EVERY, selector.get("matchExpressions") or []
    if not isinstance(match_labels, Mapping) or not isinstance(expressions, list):
        return False
    return match_labels.items() <= labels.items() and all(_fits(expression, labels) for expression in expressions)


def selects_some(selector: Tree, labels: Mapping[str, object]) -> bool:
    """Return the same of a selector that selects nothing while it is empty, as those of machine config pools."""
    return not is_empty(selector) and selects(selector, labels)


def _fits(expression: Tree, labels: Mapping[str, object]) -> bool:
    key, operator, values = (read(expression, field) for field in ("key", "operator", "values"))
    if not isinstance(key, str):
        return False
    value, listed = labels.get(key), values if isinstance(values, list) else []
    matches = {
        "In": value in listed,
        "NotIn": value not in listed,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }
    return isinstance(operator, str) and matches.get(operator, False)
