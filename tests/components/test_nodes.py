"""What the nodes get: labels, and the memlock limit."""

import pulumi
import pytest
from pydantic import ValidationError

from components.memlock import Memlock, MemlockArgs, ignition
from components.node_labels import NodeLabels, NodeLabelsArgs
from components.pool_rollout import PoolRollout, PoolRolloutArgs
from rendering.recorder import Registration
from tests.support.recorded import component, environment, of_kind, one


def test_only_the_scale_clients_are_labelled() -> None:
    """Prevents CSI pods on nodes without the file system, where they fail at every mount (R-3.4.5-3)."""
    nodes = {item.inputs["metadata"]["name"]: item.inputs["metadata"]["labels"] for item in _node_patches()}
    assert nodes == {f"dgx0{number}.ocp4.scale.ibm.com": {"scale": "true"} for number in (1, 2)}


def _node_patches() -> list[Registration]:
    return of_kind(environment("dev"), "NodePatch")


def test_both_names_of_the_runtime_unit_get_the_drop_in() -> None:
    """Prevents a drop-in for a unit that the node does not have (E-19)."""
    units = ignition("2.2.0")["systemd"]["units"]
    assert [unit["name"] for unit in units] == ["crio.service", "cri-o.service"]
    assert {drop_in["contents"] for unit in units for drop_in in unit["dropins"]} == {
        "[Service]\nLimitMEMLOCK=infinity\n"
    }


def test_rollout_is_waited_for_by_source_and_condition() -> None:
    """Prevents going on while Updated is still True from before our MachineConfig was seen."""
    patch = one(environment("dev"), "MachineConfigPoolPatch").inputs["metadata"]
    assert patch["name"] == "worker"
    assert patch["annotations"]["pulumi.com/waitFor"] == (
        '["jsonpath={.status.configuration.source[?(@.name==\\"50-worker-crio-memlock\\")].name}", "condition=Updated"]'
    )


def test_a_changed_drop_in_is_waited_for_again() -> None:
    """Prevents an update that changes the MachineConfig from ending before the nodes have it."""

    def digest(version: str) -> str:
        recorded = component(lambda: Memlock("memlock", MemlockArgs.model_validate({"ignition_version": version})))
        return str(one(recorded, "MachineConfigPoolPatch").inputs["metadata"]["annotations"]["hpc.pulumi/awaited"])

    assert digest("2.2.0") != digest("3.2.0")


def test_one_wait_serves_several_machine_configs() -> None:
    """Prevents two owners of the same annotations of a pool, and nodes that reboot once for each MachineConfig."""

    def build() -> None:
        memlock = Memlock("memlock", MemlockArgs(ignition_version="3.2.0", rollout_timeout=None))
        PoolRollout("rollout", PoolRolloutArgs(parts={**memlock.parts, "50-worker-rail-names": "abc"}))

    annotations = one(component(build), "MachineConfigPoolPatch").inputs["metadata"]["annotations"]
    assert annotations["pulumi.com/waitFor"] == (
        '["jsonpath={.status.configuration.source[?(@.name==\\"50-worker-crio-memlock\\")].name}", '
        '"jsonpath={.status.configuration.source[?(@.name==\\"50-worker-rail-names\\")].name}", "condition=Updated"]'
    )
    assert annotations["hpc.pulumi/awaited"].endswith(",abc")


def test_unknown_ignition_version_is_refused() -> None:
    """Prevents a MachineConfig that degrades the pool."""
    with pytest.raises(ValidationError):
        MemlockArgs.model_validate({"ignition_version": "1.0.0"})


def test_labels_component_names_its_nodes() -> None:
    """Prevents an output that other layers would have to guess."""
    seen: list[list[str]] = []

    def build() -> None:
        labels = NodeLabels("labels", NodeLabelsArgs(labels={"a": {"x": "y"}, "b": {"x": "y"}}))
        pulumi.Output.from_input(labels.nodes).apply(seen.append)

    component(build)
    assert seen == [["a", "b"]]
