"""Objects in a Template of OpenShift, as `oc process` would write them with the parameters' own values."""

import re
from collections.abc import Mapping
from typing import Any

from policies.values import Path, Tree, Unknown, read

OBJECTS = "objects"
_REFERENCE = re.compile(r"\$\{(\{)?([A-Za-z0-9_]+)\}(?(1)\})")


def processed(tree: Tree, parameters: Tree) -> tuple[Tree, tuple[Unknown, ...]]:
    """Return an object of a Template with its `${NAME}`s filled in, and where a parameter has no value.

    A `${{NAME}}` stands for a number or a switch, and is not known either.
    """
    given: dict[str, str] = {}
    for entry in parameters if isinstance(parameters, list) else ():
        name, value = read(entry, "name"), read(entry, "value")
        if isinstance(name, str) and isinstance(value, str):
            given[name] = value
    unknown: list[Unknown] = []
    return _filled(tree, given, (), unknown), tuple(unknown)


def _filled(tree: Tree, given: Mapping[str, str], path: Path, unknown: list[Unknown]) -> Any:
    if isinstance(tree, Mapping):
        return {key: _filled(value, given, (*path, key), unknown) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_filled(value, given, (*path, index), unknown) for index, value in enumerate(tree)]
    if not isinstance(tree, str) or "${" not in tree:
        return tree
    references = _REFERENCE.findall(tree)
    if all(not typed and name in given for typed, name in references):
        return _REFERENCE.sub(lambda found: given[found[2]], tree)
    unknown.append(Unknown(path, "has a parameter of the Template without a value"))
    return unknown[-1]
