"""Values that are filled in later: of a Template of OpenShift, of an unrendered file, of what a controller applies."""

import re
from collections.abc import Mapping
from typing import Any

from policies.manifests.pod_specs import NO_PODS
from policies.manifests.values import Path, Tree, Unknown, read

OBJECTS = "objects"
VARIABLE = re.compile(r"\$\{[A-Za-z_]\w*(?::?[-=+?][^{}]*)?\}|\$[A-Za-z_]\w*|\{\{.*?\}\}")
"""A variable of a template: `${NAME}`, `${NAME:-default}` and `$NAME` of envsubst, `{{ name }}` of Helm or Jinja."""
_FREE = NO_PODS - {"metadata"} | {
    *("annotations", "args", "command", "data", "stringData", "binaryData", "env", "lifecycle", "script", "source"),
    *("livenessProbe", "readinessProbe", "startupProbe", "description", "value"),
}
"""Fields whose values may have variables for a shell, a program or a controller in them."""
_PARTS = frozenset({"image", "name", "namespace", "generateName", "claimName", "storage"})
"""Fields that take no `$` or `{`, so that a part of their value may be a variable."""
_REFERENCE = re.compile(r"\$\{(\{)?([A-Za-z0-9_]+)\}(?(1)\})")


def process(tree: Tree, parameters: Tree) -> tuple[Tree, tuple[Unknown, ...]]:
    """Return an object of a Template with its `${NAME}`s filled in, and where a parameter has no value.

    A `${{NAME}}` stands for a number or a switch, and is not known either.
    """
    values: dict[str, str] = {}
    for entry in parameters if isinstance(parameters, list) else ():
        name, value = read(entry, "name"), read(entry, "value")
        if isinstance(name, str) and isinstance(value, str):
            values[name] = value
    unknown: list[Unknown] = []
    return _filled(tree, values, (), unknown), tuple(unknown)


def _filled(tree: Tree, values: Mapping[str, str], path: Path, unknown: list[Unknown]) -> Any:
    if isinstance(tree, Mapping):
        return {key: _filled(value, values, (*path, key), unknown) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_filled(value, values, (*path, index), unknown) for index, value in enumerate(tree)]
    if not isinstance(tree, str) or "${" not in tree:
        return tree
    references = _REFERENCE.findall(tree)
    if all(not typed and name in values for typed, name in references):
        return _REFERENCE.sub(lambda reference: values[reference[2]], tree)
    unknown.append(Unknown(path, "has a parameter of the Template without a value"))
    return unknown[-1]


def unrendered(tree: Tree) -> tuple[Tree, tuple[Unknown, ...], tuple[str, ...]]:
    """Return an object with the variables of a template unknown, which is reported once a file; and their names.

    Only fields count in which Kubernetes takes no variable.
    """
    unknown: list[Unknown] = []
    names: dict[str, None] = {}
    filled = _unfilled(tree, (), unknown, names)
    return (filled, tuple(unknown), tuple(names)) if unknown else (tree, (), ())


def _unfilled(tree: Tree, path: Path, unknown: list[Unknown], names: dict[str, None]) -> Any:
    if isinstance(tree, Mapping):
        return {
            key: value if key in _FREE else _unfilled(value, (*path, key), unknown, names)
            for key, value in tree.items()
        }
    if isinstance(tree, list):
        return [_unfilled(value, (*path, index), unknown, names) for index, value in enumerate(tree)]
    if not isinstance(tree, str) or not path:
        return tree
    match = VARIABLE.search(tree) if path[-1] in _PARTS else VARIABLE.fullmatch(tree.strip())
    if match is None:
        return tree
    names.update(dict.fromkeys(match[0] for match in VARIABLE.finditer(tree)))
    unknown.append(Unknown(path, ""))
    return unknown[-1]


def late_values(tree: Tree, marks: tuple[str, ...] = (), *, complete: bool = False) -> tuple[Tree, tuple[Unknown, ...]]:
    """Return an object that was inside another, and its unknown values by their places in itself.

    These are those that the other had there, none where it is `complete`, and texts with one of the `marks`, which its
    controller fills in.
    """
    if complete and not _marked(tree, marks):
        return tree, ()
    unknown: list[Unknown] = []
    return _with_unknowns(tree, (), marks, unknown), tuple(unknown)


def _marked(tree: Tree, marks: tuple[str, ...]) -> bool:
    waiting = [tree]
    while waiting:
        value = waiting.pop()
        if value.__class__ is str:
            if any(mark in value for mark in marks):
                return True
        elif isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return False


def _with_unknowns(tree: Tree, path: Path, marks: tuple[str, ...], unknown: list[Unknown]) -> Any:
    if isinstance(tree, Mapping):
        return {key: _with_unknowns(value, (*path, key), marks, unknown) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_with_unknowns(value, (*path, index), marks, unknown) for index, value in enumerate(tree)]
    if isinstance(tree, Unknown) or (isinstance(tree, str) and any(mark in tree for mark in marks)):
        unknown.append(Unknown(path))
        return unknown[-1]
    return tree
