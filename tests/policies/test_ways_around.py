"""Each way around the policies is stopped by what docs/reference/policies/ways-around.md names, or by nothing."""

import pytest

from policies.check import Checker
from policies.configuration import Configuration
from policies.manifests.inventory import Inventory
from policies.manifests.objects import objects
from policies.rule import Finding, Severity
from policies.ways_around import FOLDER, OWN, Way, ways
from tests.policies.conftest import rule_named

ALL = [way for found in ways().values() for way in found]
SCC = "scc-admits"
"""The rule that predicts OpenShift's admission."""


def _denying(way: Way) -> set[str]:
    """Return the rules with a determined mandatory finding when the way's manifests are complete."""
    found = [each for manifest in way.manifests() for each in objects(manifest)]
    checker = Checker(configuration=Configuration(way.configuration()))
    return {each.rule for each in checker.check(found, Inventory(found, complete=True)) if _ends(each)}


def _ends(finding: Finding) -> bool:
    return finding.severity is Severity.MANDATORY and finding.undetermined is None


@pytest.mark.parametrize("way", ALL, ids=lambda way: str(way.fixture))
def test_what_is_named_stops_it(way: Way) -> None:
    """Each rule of a row denies its fixture, the SCC prediction where it is named; no rule does where none is named."""
    denying = _denying(way)
    assert set(way.rules) <= denying
    assert way.scc == (SCC in denying)
    assert way.rules or not denying.difference({SCC})


@pytest.mark.parametrize("way", [way for way in ALL if way.rules], ids=lambda way: str(way.fixture))
def test_a_rule_ends_an_update(way: Way) -> None:
    """Rules that stop a way are mandatory."""
    assert {rule_named(name).severity for name in way.rules} == {Severity.MANDATORY}


def test_what_nothing_stops_says_so() -> None:
    """A row that nothing stops has a note about what does elsewhere, or that nothing does."""
    assert [way.fixture for way in ALL if not way.stopped and not way.note] == []


def test_no_way_stands_twice_and_none_is_forgotten() -> None:
    """Each fixture is named by exactly one row."""
    names = [way.fixture for way in ALL]
    assert sorted(set(names)) == sorted(names)
    written = {f"{OWN}/{path.stem}" for path in (FOLDER / OWN).glob("*.yaml")}
    assert written <= set(names)
