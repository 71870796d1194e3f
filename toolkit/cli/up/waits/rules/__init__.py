"""Rules by family, found by themselves: a module here defines `RULES`."""

import importlib
import pkgutil
from collections.abc import Iterable, Mapping

from toolkit.cli.up.waits.verdict import Judge, Rule
from toolkit.cli.up.waits.workloads import judge_by_workloads


def _rules(module: str) -> tuple[Rule, ...]:
    """Return the rules of a module; raise AttributeError for one without `RULES`."""
    rules: tuple[Rule, ...] = importlib.import_module(f"{__name__}.{module}").RULES
    return rules


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


RULES = tuple(rule for module in pkgutil.iter_modules(__path__) for rule in _rules(module.name))
_JUDGES = judges(RULES)


def judge_of(group: str, kind: str) -> Judge:
    """Return how objects of a kind are judged, in whatever version: by its own rule, else by its workloads."""
    return _JUDGES.get((group, kind), judge_by_workloads)
