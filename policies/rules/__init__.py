"""All rules, discovered: a module of a family defines exactly one `Rule`, whose name is the module's with hyphens."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from itertools import chain, groupby

from policies.rule import AnyRule, Rule


def _rule(module: str) -> AnyRule:
    rules = [value for value in vars(importlib.import_module(module)).values() if isinstance(value, Rule)]
    file = f"{module.replace('.', '/')}.py"
    if len(rules) != 1:
        raise TypeError(f"{file} defines {len(rules)} rules; define exactly one")
    name = module.rpartition(".")[2].replace("_", "-")
    if rules[0].name != name:
        raise TypeError(f"{file} defines the rule {rules[0].name!r}; name it {name!r}")
    return rules[0]


def _family(module: str) -> str:
    return module.split(".")[-2]


def _modules() -> Iterator[str]:
    for family in pkgutil.iter_modules(__path__, f"{__name__}."):
        folder = importlib.import_module(family.name).__path__
        yield from (module.name for module in pkgutil.iter_modules(folder, f"{family.name}."))


def _by_name(rule: AnyRule) -> str:
    return rule.name.replace("-", "_")


FAMILIES: Mapping[str, tuple[AnyRule, ...]] = {
    family: tuple(sorted(map(_rule, modules), key=_by_name)) for family, modules in groupby(_modules(), key=_family)
}
"""Rules by the folder of their module."""
RULES: tuple[AnyRule, ...] = tuple(sorted(chain.from_iterable(FAMILIES.values()), key=_by_name))
