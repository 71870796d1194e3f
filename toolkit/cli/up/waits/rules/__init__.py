"""All rules, one module for each kind, found by themselves: a module here defines exactly one `Rule`."""

import importlib
import pkgutil
from collections.abc import Iterable, Mapping

from toolkit.cli.up.waits import generic
from toolkit.cli.up.waits.verdict import Judge, Rule


def _rule(module: str) -> Rule:
    rules = [
        value for value in vars(importlib.import_module(f"{__name__}.{module}")).values() if isinstance(value, Rule)
    ]
    if len(rules) != 1:
        raise TypeError(f"toolkit/cli/up/waits/rules/{module}.py defines {len(rules)} rules; define exactly one")
    return rules[0]


def judges(rules: Iterable[Rule]) -> Mapping[tuple[str, str], Judge]:
    """Return how each kind is judged, by group and kind; raise TypeError for a kind that two rules claim."""
    by_kind: dict[tuple[str, str], Judge] = {}
    for rule in rules:
        for kind in rule.kinds:
            if (rule.group, kind) in by_kind:
                raise TypeError(
                    f"toolkit/cli/up/waits/rules: two rules judge {kind} of {rule.group or 'v1'}; delete one"
                )
            by_kind[rule.group, kind] = rule.judge
    return by_kind


RULES: tuple[Rule, ...] = tuple(_rule(module.name) for module in pkgutil.iter_modules(__path__))
_JUDGES = judges(RULES)


def judge_of(group: str, kind: str) -> Judge:
    """Return how objects of a kind are judged, in whatever version: by its own rule, else by its operands."""
    return _JUDGES.get((group, kind), generic.judge)
