"""All rules, discovered: a module here defines exactly one `Rule`, whose name is the module's with hyphens."""

import importlib
import pkgutil

from policies.rule import AnyRule, Rule


def _rule(module: str) -> AnyRule:
    found = [
        value for value in vars(importlib.import_module(f"{__name__}.{module}")).values() if isinstance(value, Rule)
    ]
    if len(found) != 1:
        raise TypeError(f"policies/rules/{module}.py defines {len(found)} rules; define exactly one")
    rule = found[0]
    wanted = module.replace("_", "-")
    if rule.name != wanted:
        raise TypeError(f"policies/rules/{module}.py defines the rule {rule.name!r}; name it {wanted!r}")
    return rule


RULES: tuple[AnyRule, ...] = tuple(_rule(each.name) for each in pkgutil.iter_modules(__path__))
