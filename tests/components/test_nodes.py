"""What the nodes get: labels, and the memlock limit."""

import pulumi
import pytest
from pydantic import ValidationError

from components.nodes.memlock import Memlock, MemlockArgs, ignition
from components.nodes.node_pool import NodeLabels, NodeLabelsArgs, PoolRollout, PoolRolloutArgs
from tests.support.recorded import component, environment, of_kind, only_object
from toolkit.render.recorder import Registration


def test_only_the_scale_clients_are_labelled() -> None:
    """Only Spectrum Scale clients get the label for CSI pods."""
    nodes = {
        item.inputs["metadata"]["name"]: item.inputs["metadata"]["labels"].get("scale") for item in _node_patches()
    }
    assert nodes == {f"dgx0{number}.ocp4.scale.ibm.com": "true" for number in (1, 2)}


def _node_patches() -> list[Registration]:
    return of_kind(environment("dev"), "NodePatch")


def test_both_names_of_the_runtime_unit_get_the_drop_in() -> None:
    """Both names of the runtime's unit get the drop-in."""
    units = ignition("2.2.0")["systemd"]["units"]
    assert [unit["name"] for unit in units] == ["crio.service", "cri-o.service"]
    assert {drop_in["contents"] for unit in units for drop_in in unit["dropins"]} == {
        "[Service]\nLimitMEMLOCK=infinity\n"
    }


def test_containers_of_the_guide_have_its_limits() -> None:
    """In the guide's example containers have unlimited locked memory and 64 MiB of stack, as by docker run."""
    config = only_object(environment("nvaie-roce"), "MachineConfig", "50-gpu-crio-memlock").inputs["spec"]["config"]
    contents = {drop_in["contents"] for unit in config["systemd"]["units"] for drop_in in unit["dropins"]}
    assert contents == {"[Service]\nLimitMEMLOCK=infinity\nLimitSTACK=67108864\n"}


def test_rollout_is_waited_for_by_source_and_condition() -> None:
    """The rollout waits for the MachineConfig in the pool's source and for Updated."""
    patch = only_object(environment("dev"), "MachineConfigPoolPatch").inputs["metadata"]
    assert patch["name"] == "worker"
    assert patch["annotations"]["pulumi.com/waitFor"] == (
        '["jsonpath={.status.configuration.source[?(@.name==\\"50-worker-crio-memlock\\")].name}", "condition=Updated"]'
    )


def test_a_changed_drop_in_is_waited_for_again() -> None:
    """A changed drop-in changes the patch that waits."""

    def digest(version: str) -> str:
        recorded = component(lambda: Memlock("memlock", MemlockArgs.model_validate({"ignition_version": version})))
        return str(
            only_object(recorded, "MachineConfigPoolPatch").inputs["metadata"]["annotations"]["hpc.pulumi/awaited"]
        )

    assert digest("2.2.0") != digest("3.2.0")


def test_one_wait_serves_several_machine_configs() -> None:
    """One patch of the pool waits for several MachineConfigs."""

    def build() -> None:
        memlock = Memlock("memlock", MemlockArgs(ignition_version="3.2.0", rollout_timeout=None))
        PoolRollout("rollout", PoolRolloutArgs(parts={**memlock.parts, "50-worker-rail-names": "abc"}))

    annotations = only_object(component(build), "MachineConfigPoolPatch").inputs["metadata"]["annotations"]
    assert annotations["pulumi.com/waitFor"] == (
        '["jsonpath={.status.configuration.source[?(@.name==\\"50-worker-crio-memlock\\")].name}", '
        '"jsonpath={.status.configuration.source[?(@.name==\\"50-worker-rail-names\\")].name}", "condition=Updated"]'
    )
    assert annotations["hpc.pulumi/awaited"].endswith(",abc")


def test_unknown_ignition_version_is_refused() -> None:
    """An unknown Ignition version is refused."""
    with pytest.raises(ValidationError):
        MemlockArgs.model_validate({"ignition_version": "1.0.0"})


def test_labels_component_names_its_nodes() -> None:
    """The component's output names its nodes."""
    seen: list[list[str]] = []

    def build() -> None:
        labels = NodeLabels("labels", NodeLabelsArgs(labels={"a": {"x": "y"}, "b": {"x": "y"}}))
        pulumi.Output.from_input(labels.nodes).apply(seen.append)

    component(build)
    assert seen == [["a", "b"]]
