"""All rules, one per module, found by themselves: a module here defines exactly one `Rule`, named in capitals."""

import importlib
import pkgutil

from policies.rule import AnyRule, Rule


def _rule(module: str) -> AnyRule:
    found = [
        value for value in vars(importlib.import_module(f"{__name__}.{module}")).values() if isinstance(value, Rule)
    ]
    if len(found) != 1:
        raise TypeError(f"policies/rules/{module}.py defines {len(found)} rules; one is wanted")
    return found[0]


RULES: tuple[AnyRule, ...] = tuple(_rule(each.name) for each in pkgutil.iter_modules(__path__))
