"""Time-outs: from the settings to the annotations that the provider reads."""

from typing import Any

import pytest

from components.base.timeouts import DRIVER_PER_NODE, LONGEST, NETWORK_PER_NODE, PLUGIN_PER_NODE, Timeouts
from core.apis.names import TIMEOUT_SECONDS
from stacks.loading import settings
from tests.support.recorded import built
from tests.support.stack_settings import data

FIELDS = [name for name in Timeouts.model_fields if name != "failed_after"]
OWN = {name: 100_000 + number for number, name in enumerate(FIELDS)}
"""Other seconds for each, that nothing else has."""


def waits(content: dict[str, Any]) -> dict[str, set[int]]:
    """Return the time-outs of all objects that a stack declares, by kind."""
    found: dict[str, set[int]] = {}
    for item in built(content):
        seconds = ((item.inputs.get("metadata") or {}).get("annotations") or {}).get(TIMEOUT_SECONDS)
        if seconds is not None:
            found.setdefault(item.type.rpartition(":")[2], set()).add(int(seconds))
    return found


@pytest.mark.parametrize("stack", ["dev", "prod", "nvaie-roce", "superpod-a100", "robotic-drive-ethernet"])
def test_every_wait_takes_its_time_from_the_settings(stack: str) -> None:
    """A component whose own default is left would be the one that ends an update on a slow cluster."""
    content = data(stack)
    content["timeouts"] = OWN
    wanted = settings.parse(content, "Pulumi.test.yaml")
    rollout = {each * wanted.reboot_minutes * 60 for each in range(1, len(wanted.workers) + 1)}
    pools, nodes = {"MachineConfigPoolPatch"}, len(wanted.gpu_nodes)
    for kind, seconds in waits(content).items():
        allowed = rollout if kind in pools else {*OWN.values(), DRIVER_PER_NODE * nodes}
        assert seconds <= allowed, f"{kind}: {seconds - allowed}"


def test_what_goes_from_node_to_node_takes_longer_on_more_nodes() -> None:
    """And never longer than a week, nor less than it takes on one node."""
    given = Timeouts()
    assert given.drivers(1, one_by_one=True) == given.drivers(140, one_by_one=False) == given.driver
    assert given.drivers(140, one_by_one=True) == 140 * DRIVER_PER_NODE
    assert given.drivers(5000, one_by_one=True) == LONGEST
    assert given.plugins(2) == given.plugin
    assert given.plugins(140) == 140 * PLUGIN_PER_NODE
    assert given.network_policies(140) == 140 * NETWORK_PER_NODE


def test_a_job_may_have_its_own() -> None:
    """Beside that of all others."""
    content = data("dev")
    content["stages"][0]["workloads"][0]["timeout"] = 88
    found = waits(content)
    assert 88 in found["Job"]
