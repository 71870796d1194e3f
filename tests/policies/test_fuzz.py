"""Whatever a manifest holds: no rule raises, none hangs, and every finding can be shown with its place.

A few examples run with the unit tests; the engine layer takes HPC_FUZZ_SECONDS (default 60), shared by the properties.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from policies.check import Checker
from policies.manifests.documents import Aliases, documents
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.values import show
from policies.pack.resources import Properties
from tests.policies.conftest import unknowns
from tests.support.manifests import inventions, mutants, texts
from toolkit.cli.check import text_report
from toolkit.cli.check.data_reports import REPORTS
from toolkit.cli.check.examination import examine
from toolkit.cli.check.sources import Source
from toolkit.cli.check.texts import decode

LONGEST = 2.0
"""Seconds of processor time for one example, of a few objects; they take milliseconds."""
TODAY = date(2026, 1, 1)
CHECKER = Checker()
EXAMPLES = 15  # of each property at a time: under a second for all

few = settings(
    max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=True
)
count = 0


@contextmanager
def _bounded() -> Iterator[None]:
    global count  # noqa: PLW0603 - how many examples a long run had
    count += 1
    begin = time.process_time()
    yield
    assert time.process_time() - begin < LONGEST


def _examined(content: bytes) -> None:
    with _bounded():
        result = examine([Source("file", content)], CHECKER, complete=count % 2 == 0, today=TODAY)
    lines = content.decode(errors="replace").count("\n") + 1
    places = [(each.line, each.column) for each in (*result.problems, *result.notes)]
    places += [(each.line, each.column) for each in result.findings]
    assert all(1 <= line <= lines and column >= 1 for line, column in places), places
    assert [problem for problem in result.problems if "a rule failed" in problem.message] == []
    for report in REPORTS.values():
        assert report(result)
    assert text_report.report(result, advisories=True)


@few
@given(texts())
def any_text(content: bytes) -> None:
    """Read any bytes as a file."""
    _examined(content)


@few
@given(mutants() | inventions())
def any_manifest(manifests: list[Any]) -> None:
    """Read any trees as their YAML and their JSON."""
    text = yaml.dump_all(manifests, Dumper=yaml.CSafeDumper, allow_unicode=True)
    _examined(text.encode())
    for manifest in manifests:
        written = decode(json.dumps(manifest).encode())
        (document,) = documents(written, Aliases.of(written), {})
        assert document.tree == manifest


@few
@given(mutants() | inventions())
def any_unknown(manifests: list[Any]) -> None:
    """Examine any trees with unknown values, as the engine sends them."""
    read = [Properties(unknowns(manifest)) for manifest in manifests]
    found = [Obj(each.tree, unknown=tuple(each.unknown)) for each in read]
    with _bounded():
        findings = list(CHECKER.check(found, Inventory(found, complete=count % 2 == 0)))
    for finding in findings:
        assert str(finding)
        assert show(finding.path) or not finding.path


PROPERTIES = (any_text, any_manifest, any_unknown)


@pytest.mark.parametrize("holds", PROPERTIES)
def test_a_few_examples(holds: Callable[[], None]) -> None:
    """No rule and no reader raises, whatever a manifest holds."""
    holds()


@pytest.mark.engine
@pytest.mark.parametrize("holds", PROPERTIES)
def test_a_minute_of_examples(holds: Callable[[], None], record_property: Callable[[str, object], None]) -> None:
    """The same over many examples, for what is rare."""
    begin, before = time.monotonic(), count
    while time.monotonic() - begin < float(os.environ.get("HPC_FUZZ_SECONDS", "60")) / len(PROPERTIES):
        holds()
    record_property("examples", count - before)
    print(f"{count - before} examples in {time.monotonic() - begin:.0f} s")  # noqa: T201 - for -s
