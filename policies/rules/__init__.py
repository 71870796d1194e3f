"""All rules, discovered: each module of a family has those of one subject, in constants of their names."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from itertools import chain, groupby, pairwise

from policies.rule import AnyRule, Rule


def _rules(module: str) -> Iterator[AnyRule]:
    """Yield the rules of a module; raise TypeError where it has none, or one in a constant of another name."""
    file = f"{module.replace('.', '/')}.py"
    constants = {
        constant: value for constant, value in vars(importlib.import_module(module)).items() if isinstance(value, Rule)
    }
    if not constants:
        raise TypeError(f"{file} defines no rule; define one, or move the file to policies/views/")
    for constant, rule in constants.items():
        name = constant.lower().replace("_", "-")
        if rule.name != name:
            raise TypeError(f"{file}: {constant} is the rule {rule.name!r}; name it {name!r}, or rename the constant")
        yield rule


def _modules() -> Iterator[str]:
    return (module.name for module in pkgutil.walk_packages(__path__, f"{__name__}.") if not module.ispkg)


def _family(module: str) -> str:
    return module.removeprefix(f"{__name__}.").partition(".")[0]


def _by_name(rule: AnyRule) -> str:
    return rule.name.replace("-", "_")


FAMILIES: Mapping[str, tuple[AnyRule, ...]] = {
    family: tuple(sorted(chain.from_iterable(map(_rules, modules)), key=_by_name))
    for family, modules in groupby(_modules(), key=_family)
}
"""Rules by the first module or folder that they are in."""
RULES: tuple[AnyRule, ...] = tuple(sorted(chain.from_iterable(FAMILIES.values()), key=_by_name))
for _rule, _next in pairwise(RULES):
    if _rule.name == _next.name:
        raise TypeError(f"policies/rules has two rules {_rule.name!r}; rename one, and import none into another module")
