"""The policies over everything that our own stacks would apply."""

import pytest

from policies.check import Checker
from policies.configuration import Configuration
from policies.exceptions import load as exceptions
from policies.exceptions import waive
from policies.manifests.inventory import Inventory
from policies.manifests.objects import objects
from stacks.loading.settings import load
from tests.support.recorded import A_DAY, OURS, ROOT, environment
from toolkit.cli.shared.policy_configuration import configuration
from toolkit.render.manifests import manifests, platform_registrations


@pytest.mark.parametrize("stack", OURS)
def test_stack_keeps_the_policies(stack: str) -> None:
    """The stacks of this repository pass the rules; no secret is needed to check them."""
    settings = load(stack, ROOT)
    found = [each for manifest in manifests(environment(stack)) for each in objects(manifest)]
    assert any(each.kind in ("MPIJob", "Job") for each in found) == settings.has_tenants
    others = [each for manifest in manifests(platform_registrations(stack, ROOT)) for each in objects(manifest)]
    checker = Checker(configuration=Configuration(configuration(settings)))
    remain = waive(checker.check(found, Inventory([*found, *others], complete=True)), exceptions(), A_DAY)
    assert [str(finding) for finding in remain] == []
