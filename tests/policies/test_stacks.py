"""The policies over everything that our own stacks would apply."""

import pytest

from policies.check import check
from policies.rule import Limits
from rendering.manifests import manifests, registrations
from stacks.settings import load
from tests.policies.conftest import FIXTURES

ROOT = FIXTURES.parents[2]


@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_stack_keeps_the_policies(stack: str) -> None:
    """A component of ours that the pack refuses, noticed only at the update; no secret is needed to see it."""
    limits = Limits(gpus=load(stack, ROOT).profile.gpus)
    found = manifests(registrations(stack, ROOT))
    assert sum(manifest["kind"] == "MPIJob" for manifest in found) >= 1
    assert [str(finding) for finding in check(found, limits)] == []
