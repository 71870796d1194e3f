"""Which kinds of objects a component declares, read from its code.

The calls in the constructor, and in the functions of `components` that it calls, are followed. A component is not run:
there is no set of arguments with which all of them would declare everything.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeGuard

import pulumi
import pulumi_kubernetes as k8s

from components.base.component import CustomObject
from core.apis.kinds import Kind
from stacks.releases import RELEASES

Row = tuple[str, str]
_PATCH = "Patch"


@cache
def kinds(component: str, module: ModuleType) -> tuple[Row, ...]:
    """Return kind and API version of what a component declares, each once and sorted.

    A kind that comes with the arguments is the one that the component is named after, in the versions of all releases;
    any kind where that is all.
    """
    rows = set(_calls(component, module, {}, set()))
    if None in rows:
        rows |= {(kind.kind, kind.api_version) for kind in _of_releases() if kind.kind.lower() == component.lower()}
    if rows == {None}:
        return (("any kind", "any"),)
    return tuple(sorted(row for row in rows if row is not None))


def _of_releases() -> Iterator[Kind]:
    for release in RELEASES.values():
        yield from (value for value in vars(release).values() if isinstance(value, Kind))


@cache
def definitions(module: ModuleType) -> Mapping[str, ast.stmt]:
    """Return the code of a module's classes and functions, by name."""
    body = ast.parse(Path(str(module.__file__)).read_text()).body
    return {node.name: node for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)}


def _calls(
    name: str,
    module: ModuleType,
    argument_kinds: Mapping[str, Kind],
    visited: set[tuple[str, str, frozenset[tuple[str, Kind]]]],
) -> Iterator[Row | None]:
    """Yield what a class or function declares with `argument_kinds`; None for another argument's kind."""
    visited.add((module.__name__, name, frozenset(argument_kinds.items())))
    code = definitions(module)[name]
    scope = {**vars(module), **dict(_local_names(code, vars(module))), **argument_kinds}
    for node in ast.walk(code):
        if not isinstance(node, ast.Call):
            continue
        called = _value(node.func, scope)
        if called is CustomObject:
            declared_kinds = _kinds(node.args[1], scope)
            yield from ((kind.kind, kind.api_version) for kind in declared_kinds)
            if not declared_kinds:
                yield None
        elif inspect.isclass(called) and issubclass(called, pulumi.CustomResource):
            yield from _typed(called, node, scope)
        elif _is_ours(called):
            passed = _passed(called, node, scope)
            if (called.__module__, called.__name__, frozenset(passed.items())) not in visited:
                yield from _calls(called.__name__, sys.modules[called.__module__], passed, visited)


def _passed(called: FunctionType, node: ast.Call, scope: Mapping[str, Any]) -> dict[str, Kind]:
    pairs = [*zip(inspect.signature(called).parameters, node.args, strict=False)]
    pairs += [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg]
    values = {name: _value(value, scope) for name, value in pairs}
    return {name: value for name, value in values.items() if isinstance(value, Kind)}


def _is_ours(called: Any) -> TypeGuard[FunctionType]:
    return isinstance(called, FunctionType) and called.__module__.startswith("components.")


def _local_names(code: ast.stmt, scope: Mapping[str, Any]) -> Iterator[tuple[str, ModuleType]]:
    """Yield what modules are called inside a function, such as `core = k8s.core.v1`."""
    for node in ast.walk(code):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = _value(node.value, scope)
            if isinstance(value, ModuleType):
                yield node.targets[0].id, value


def _typed(called: type[pulumi.CustomResource], node: ast.Call, scope: Mapping[str, Any]) -> Iterator[Row]:
    if called is k8s.apiextensions.CustomResourcePatch:
        arguments = {keyword.arg: _value(keyword.value, scope) for keyword in node.keywords}
        yield f"{arguments['kind']} (patch)", str(arguments["api_version"])
        return
    group, version = called.__module__.removeprefix("pulumi_kubernetes.").split(".")[:2]
    core_groups: Mapping[str, str] = {"core": version}
    name = called.__name__
    shown = f"{name.removesuffix(_PATCH)} (patch)" if name.endswith(_PATCH) else name
    yield shown, core_groups.get(group, f"{_GROUPS.get(group, group)}/{version}")


_GROUPS: Mapping[str, str] = {
    "apiextensions": "apiextensions.k8s.io",
    "networking": "networking.k8s.io",
    "rbac": "rbac.authorization.k8s.io",
    "scheduling": "scheduling.k8s.io",
    "storage": "storage.k8s.io",
}


def _kinds(node: ast.expr, scope: Mapping[str, Any]) -> list[Kind]:
    """Return the kind that an expression names, or all of a table that it looks into; none for an argument."""
    value = _value(node.value if isinstance(node, ast.Subscript) else node, scope)
    if isinstance(value, Kind):
        return [value]
    if isinstance(value, Mapping):
        return [kind for kind in value.values() if isinstance(kind, Kind)]
    return []


def _value(node: ast.expr, scope: Mapping[str, Any]) -> Any:
    """Return what a dotted name means in a module; None for everything else."""
    if isinstance(node, ast.Name):
        return scope.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_value(node.value, scope), node.attr, None)
    return None
