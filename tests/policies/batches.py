"""Which fixtures the engine can examine in one start.

To a rule about links the whole stack is the inventory, so two fixtures may share a stack only where each still gets
the findings that it gets alone. Whether they do is found out in this process; the engine then has to agree.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from policies.check import Checker
from policies.configuration import Configuration
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.pack.resources import Properties
from tests.policies.conftest import Case, findings, rule_named
from tests.policies.servicer import wired


@dataclass
class Batch:
    """Fixtures that share one stack, and the configuration that they share."""

    complete: bool
    cases: list[Case] = field(default_factory=list)
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def configuration(self) -> dict[str, dict[str, Any]]:
        """The policy configuration of the stack."""
        return {
            "whole-stack": {"complete": self.complete},
            **{key: value for key, value in self.parameters.items() if value},
        }

    def takes(self, case: Case) -> bool:
        """Return whether the fixture's configuration goes with that of the others."""
        return self.complete == case.complete and self.parameters.get(case.rule, case.parameters) == case.parameters

    def add(self, case: Case) -> None:
        """Add a fixture."""
        self.cases.append(case)
        self.parameters[case.rule] = case.parameters


def batches(cases: Iterable[Case]) -> list[Batch]:
    """Return the fixtures in as few stacks as a greedy search finds."""
    found: list[Batch] = []
    objects: list[Batch] = []
    for case in cases:
        links = rule_named(case.rule).links
        among = found if links else objects
        fitting = (batch for batch in among if batch.takes(case) and (not links or _agree([*batch.cases, case])))
        chosen = next(fitting, None)
        if chosen is None:
            chosen = Batch(case.complete)
            among.append(chosen)
        chosen.add(case)
    return [*objects, *found]


@cache
def said(case: Case) -> list[str]:
    """Return the determined findings of the case's rule when the case is alone."""
    return sorted(str(finding) for finding in findings(_sent(case)) if finding.undetermined is None)


@cache
def _sent(case: Case) -> Case:
    """Return the case as the engine sends it; the search asks for each some twenty times."""
    return wired(case)


def _agree(cases: list[Case]) -> bool:
    together = _together(cases)
    return all(together[str(case)] == said(case) for case in cases)


def _together(cases: list[Case]) -> dict[str, list[str]]:
    subjects = [
        Obj(Properties(manifest).tree, origin=str(case)) for case in cases for manifest in _sent(case).manifests
    ]
    inventory = Inventory(subjects, complete=cases[0].complete)
    rules = {case.rule: rule_named(case.rule) for case in cases}
    checker = Checker([*rules.values()], Configuration({case.rule: case.parameters for case in cases}))
    found: dict[str, list[str]] = {str(case): [] for case in cases}
    for finding in checker.check(subjects, inventory):
        if finding.undetermined is None and finding.origin.partition("/")[0] == finding.rule:
            found[finding.origin].append(str(finding))
    return {name: sorted(messages) for name, messages in found.items()}
