"""NMState's agents."""

from typing import Any

from components.fabric.nmstate import NmState, NmStateArgs
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults, only

FULL: dict[str, Any] = {"node_selector": {"node-role.kubernetes.io/worker": ""}, "probe_host": "api.pod.example.com"}


def nmstate(**changed: Any) -> Manifest:
    """Return the object."""
    args = NmStateArgs.model_validate(changed)
    found = declared(lambda: NmState("nmstate", args))
    assert faults(found) == []
    return only(found, "NMState")


def test_it_has_the_shape_of_its_definition() -> None:
    """The object matches its definition."""
    expect_conformity(nmstate(), nmstate(**FULL))
    assert nmstate(**FULL)["spec"]["probeConfiguration"] == {"dns": {"host": "api.pod.example.com"}}


def test_agents_reach_the_nodes_that_are_kept_for_gpus() -> None:
    """Agents tolerate the GPU taint."""
    assert nmstate()["spec"] == {
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    }


def test_it_has_the_one_name_and_is_awaited_where_it_can_be() -> None:
    """The object has the operator's only name; the wait can be left out."""
    metadata = nmstate()["metadata"]
    assert metadata["name"] == "nmstate"
    assert metadata["annotations"]["pulumi.com/waitFor"] == "condition=Available"
    assert "annotations" not in nmstate(ready_timeout=None)["metadata"]
