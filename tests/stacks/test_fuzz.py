"""Whatever settings are put together: they are refused by name, or the stack renders and keeps the mandatory rules.

A few examples run with the unit tests; the engine layer takes HPC_FUZZ_SECONDS (default 60).
"""

import os
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples

from core.pulumi_values import REDACTED
from policies.check import Checker
from policies.configuration import Configuration
from policies.exceptions import load as exceptions
from policies.exceptions import waive
from policies.manifests.inventory import Inventory
from policies.manifests.objects import objects
from policies.rule import Severity
from stacks import environment
from stacks.loading.settings import PROJECT, Settings, SettingsError, parse
from tests.support.fragments import WHOLE, stacks, unchanged
from tests.support.recorded import A_DAY, ROOT
from toolkit.cli.shared.policy_configuration import configuration
from toolkit.render.manifests import manifests
from toolkit.render.recorder import Registration, record

EXAMPLES = 4  # at a time: under a second
ACCEPTED_BY_HAND = "selinux-enforcing"
"""Rule that `tuning.selinux: permissive` breaks by its meaning; the field's description says so."""
counts: Counter[str] = Counter()


@examples(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(stacks())
def any_settings(content: dict[str, Any]) -> None:
    """Parse any settings, and what can be parsed, render and check."""
    try:
        wanted = parse(content, "test")
    except SettingsError:
        counts["refused"] += 1
        return
    counts["rendered"] += 1
    recorded = record(
        lambda: environment.build(wanted, environment.placeholder_accounts(wanted, REDACTED), ROOT),
        stack="test",
        project=PROJECT,
    )
    assert _repeated(recorded) == []
    assert _broken(wanted, recorded) == []


def _repeated(recorded: tuple[Registration, ...]) -> list[str]:
    """Return what is made twice: names of resources, and objects on the cluster."""
    made = [
        (item.type, metadata.get("namespace"), metadata["name"])
        for item in recorded
        if item.is_kubernetes and not item.type.endswith("Patch") and (metadata := item.inputs["metadata"])
    ]
    names = Counter([*(item.urn for item in recorded), *map(str, made)])
    return [name for name, count in names.items() if count > 1]


def _broken(wanted: Settings, recorded: tuple[Registration, ...]) -> list[str]:
    """Return the findings of mandatory rules that no exception covers."""
    found = [each for manifest in manifests(recorded) for each in objects(manifest)]
    checker = Checker(configuration=Configuration(configuration(wanted)))
    remain = waive(checker.check(found, Inventory(found, complete=True)), exceptions(), A_DAY)
    return [
        str(finding)
        for finding in remain
        if finding.severity is Severity.MANDATORY and finding.rule != ACCEPTED_BY_HAND
    ]


@pytest.mark.parametrize("stack", WHOLE)
def test_what_is_changed_is_right_by_itself(stack: str) -> None:
    """The stacks that are changed at random are accepted as they are, so that a refusal is due to a change."""
    assert parse(unchanged(stack), stack)


def test_a_few_examples() -> None:
    """Random settings are refused by name, or render and keep the mandatory rules."""
    any_settings()


@pytest.mark.engine
def test_a_minute_of_examples(record_property: Callable[[str, object], None]) -> None:
    """The same for what is rare."""
    begin = time.monotonic()
    counts.clear()
    while time.monotonic() - begin < float(os.environ.get("HPC_FUZZ_SECONDS", "60")):
        any_settings()
    record_property("examples", dict(counts))
    print(f"{dict(counts)} in {time.monotonic() - begin:.0f} s")  # noqa: T201 - for -s
