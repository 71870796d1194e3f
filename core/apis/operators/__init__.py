"""The operators from OperatorHub, one module each, discovered: a module defines `OPERATOR`, and nothing lists it.

Reviews take from it what an upgrade or a removal does, `./hpc status` the state of its object, settings the
subscription, and `core.apis.kinds` the kind. The name of the module is that of its setting below `operators`.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from core.apis.kind import Kind
from core.apis.operator import Operator


@cache
def operators() -> Mapping[str, Operator]:
    """Return all operators by module name; raise TypeError for a module without one, and for a package named twice."""
    by_module = {module.name: _operator(module.name) for module in iter_modules(__path__)}
    packages = [operator.package for operator in by_module.values()]
    for package in packages:
        if packages.count(package) > 1:
            raise TypeError(f"core/apis/operators: package {package} is declared twice; leave one declaration")
    return by_module


def kinds() -> tuple[Kind, ...]:
    """Return the kinds of the operators' instances."""
    return tuple(operator.instance.kind for operator in operators().values() if operator.instance)


def _operator(name: str) -> Operator:
    operator = getattr(import_module(f"{__name__}.{name}"), "OPERATOR", None)
    if not isinstance(operator, Operator):
        raise TypeError(f"core/apis/operators/{name}.py has no OPERATOR; define it as core.apis.operator.Operator")
    return operator
