"""Plain trees out of what the policy SDK hands over.

Its proxies are neither dict nor list and raise `UnknownValueError` on the first touch of a value that a preview does
not know yet. One such exception leaving a policy turns all of it into an advisory remark, and a mandatory rule then
passes. So the tree is copied once, and every unknown value becomes an `Unknown` that says where it is.
"""

from collections.abc import Mapping, Sequence

from pulumi_policy import proxy

from policies.values import Path, Tree, Unknown

_SENTINELS = frozenset(
    {
        proxy.UNKNOWN_BOOLEAN_VALUE,
        proxy.UNKNOWN_NUMBER_VALUE,
        proxy.UNKNOWN_STRING_VALUE,
        proxy.UNKNOWN_ARRAY_VALUE,
        proxy.UNKNOWN_ASSET_VALUE,
        proxy.UNKNOWN_ARCHIVE_VALUE,
        proxy.UNKNOWN_OBJECT_VALUE,
    }
)


def plain(value: Tree, unknown: list[Unknown] | None = None, path: Path = ()) -> Tree:
    """Return `value` as dicts, lists and scalars, with integers for whole floats.

    What is not known is an `Unknown` in its place, and is added to the list `unknown`.
    """
    if isinstance(value, Unknown):
        return _hidden(path, unknown)
    if isinstance(value, str):
        return _hidden(path, unknown) if value in _SENTINELS else value
    if isinstance(value, Mapping):
        return {key: _entry(value, key, unknown, (*path, key)) for key in value}
    if isinstance(value, Sequence):
        return [_entry(value, index, unknown, (*path, index)) for index in range(len(value))]
    if isinstance(value, float) and value.is_integer():
        return int(value)  # the engine's wire format has floats only
    return value


def _entry(parent: Tree, key: str | int, unknown: list[Unknown] | None, path: Path) -> Tree:
    try:
        return plain(parent[key], unknown, path)
    except proxy.UnknownValueError:
        return _hidden(path, unknown)


def _hidden(path: Path, unknown: list[Unknown] | None) -> Unknown:
    value = Unknown(path)
    if unknown is not None:
        unknown.append(value)
    return value
