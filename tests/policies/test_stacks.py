"""The policies over everything that our own stacks would apply."""

from datetime import date

import pytest

from cli.policy_configuration import configuration
from policies.check import Checker
from policies.configuration import Configuration
from policies.exceptions import load as exceptions
from policies.exceptions import waive
from policies.objects import objects
from policies.world import World
from rendering.manifests import beside, manifests
from stacks.settings import known, load
from tests.support.recorded import ROOT, environment

A_DAY = date(2026, 11, 21)
"""On which our own exceptions hold; that they end is the matter of the doors, not of this test."""


@pytest.mark.parametrize("stack", known(ROOT))
def test_stack_keeps_the_policies(stack: str) -> None:
    """A component of ours that the pack refuses, noticed only at the update; no secret is needed to see it."""
    settings = load(stack, ROOT)
    found = [each for manifest in manifests(environment(stack)) for each in objects(manifest)]
    assert any(each.kind in ("MPIJob", "Job") for each in found) == settings.has_tenants
    others = [each for manifest in manifests(beside(stack, ROOT)) for each in objects(manifest)]
    checker = Checker(configuration=Configuration(configuration(settings)))
    remain = waive(checker.check(found, World([*found, *others], complete=True)), exceptions(), A_DAY)
    assert [str(finding) for finding in remain] == []
