"""Hazards of a site, planted on a cluster whose stack is up: status names them, and drift is still none."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from core.apis import kinds
from core.apis.names import CLUSTER_VERSION
from tests.support.lab import Lab
from tests.support.messages import has

pytestmark = pytest.mark.cluster

NODE = "dgx01.ocp4.scale.ibm.com"
STATE = "nvidia.com/gpu-driver-upgrade-state"
BLOCKED = {
    "type": "Upgradeable",
    "status": "False",
    "reason": "AdminAckRequired",
    "message": "Kubernetes 1.22 removes APIs that are in use",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}


@dataclass(frozen=True)
class Planted:
    """A lab with hazards."""

    lab: Lab
    drift: int
    """Exit status of drift before there were any."""


def _conditions(lab: Lab) -> list[Any]:
    conditions: list[Any] = lab.api.get(kinds.CLUSTER_VERSION, CLUSTER_VERSION)["status"].get("conditions") or []
    return conditions


@pytest.fixture
def planted(lab: Lab) -> Iterator[Planted]:
    """Give the lab, whose other tests may have left drift, with three hazards.

    A pool is paused, a driver's upgrade has failed, and the release cannot be updated.
    """
    before = _conditions(lab)
    drift = lab.hpc("drift").returncode
    lab.api.patch(kinds.MACHINE_CONFIG_POOL, "worker", {"spec": {"paused": True}})
    lab.api.patch(kinds.NODE, NODE, {"metadata": {"labels": {STATE: "upgrade-failed"}}})
    lab.api.patch(kinds.CLUSTER_VERSION, CLUSTER_VERSION, {"status": {"conditions": [*before, BLOCKED]}})
    yield Planted(lab, drift)
    lab.api.patch(kinds.MACHINE_CONFIG_POOL, "worker", {"spec": {"paused": None}})
    lab.api.patch(kinds.NODE, NODE, {"metadata": {"labels": {STATE: None}}})
    lab.api.patch(kinds.CLUSTER_VERSION, CLUSTER_VERSION, {"status": {"conditions": before}})


def test_a_stack_that_is_up_has_no_hazard(lab: Lab) -> None:
    """A simulated cluster has none, and status says which could not be checked there, and why."""
    said = lab.works("status")
    assert "hazard " not in said
    (line,) = (line for line in said.splitlines() if line.startswith("hazards not checked: "))
    assert has(line, "removed-apis (the cluster does not serve APIRequestCount")


def test_hazards_are_named_and_are_no_drift(planted: Planted) -> None:
    """Status has a line for each hazard, with its remedy; drift shows them, and its exit status is that of none."""
    said = planted.lab.works("status")
    assert has(said, "hazard driver-upgrade-stuck: ", NODE, "upgrade-failed", "delete the pod")
    assert has(said, "hazard machine-config-pool: MachineConfigPool worker: paused", "oc patch mcp worker")
    assert has(said, "hazard update-blocked: ClusterVersion version", "AdminAckRequired: Kubernetes 1.22 removes APIs")
    assert sum(line.startswith("hazard ") for line in said.splitlines()) == 3
    drift = planted.lab.hpc("drift")
    assert drift.returncode == planted.drift, drift.stdout + drift.stderr
    assert has(drift.stdout, "! Hazard: ClusterVersion version", "! Hazard: MachineConfigPool worker", "No drift")


def test_a_way_to_other_versions_begins_with_the_hazards(planted: Planted) -> None:
    """`upgrade check` finds nothing to do for the stack's own versions, and names the hazards first."""
    said = planted.lab.works("upgrade", "check")
    assert has(said, "hazard update-blocked", "Nothing to do")
