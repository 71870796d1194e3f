"""What a kubelet's configuration means for the controller, the node and its pods."""

from typing import Any

import pytest

from components.nodes.kubelet_config import for_machine, kubelet
from core.hardware.profiles import Profile
from tests.support.machines import DGX_A100
from toolkit.simulator.actors import ignition, kubelet_settings, kubeletconfigs, machine_pools
from toolkit.simulator.actors.kubelet_settings import allocatable, refusal, refused_by_controller

Settings = dict[str, Any]
RIGHT = kubelet(for_machine(DGX_A100, memory_manager=True))
CAPACITY = {"cpu": "256", "memory": "1024Gi", "pods": "250"}


def rendered(settings: Settings) -> Settings:
    """Return what a pool's nodes get of a KubeletConfig."""
    owner = {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "KubeletConfig",
        "metadata": {"name": "numa", "uid": "1"},
        "spec": {"kubeletConfig": settings},
    }
    return ignition.render("gpu", [kubeletconfigs.machine_config("gpu", 0, owner)])


def test_our_own_component_declares_what_a_kubelet_takes() -> None:
    """The platform's own component declares reservations that a kubelet starts with."""
    assert refused_by_controller(RIGHT) is None
    assert refusal(RIGHT, DGX_A100, DGX_A100.cpus) is None


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"topologyManagerPolicy": "best"}, 'topologyManagerPolicy "best" must be one of: [none best-effort'),
        ({"topologyManagerScope": "node"}, 'topologyManagerScope "node" must be one of: [container pod]'),
        ({"reservedSystemCPUs": "0-3,300"}, "unknown CPU ID: 300"),
        ({"reservedSystemCPUs": "three"}, "unable to parse reserved-cpus"),
        ({"reservedSystemCPUs": "", "systemReserved": {"memory": "1Gi"}}, "unable to determine reserved CPU resources"),
        ({"systemReserved": {"memory": "2Gi"}}, '"1124Mi" of type "memory" is not equal to the value "2148Mi"'),
        ({"reservedMemory": [{"numaNode": 9, "limits": {"memory": "1124Mi"}}]}, "NUMA node 9 that does not exist"),
    ],
)
def test_a_kubelet_that_would_end_is_told(changed: Settings, words: str) -> None:
    """Settings that a kubelet refuses are refused here too."""
    assert words in str(refusal(RIGHT | changed, DGX_A100, DGX_A100.cpus))


def test_more_than_eight_numa_nodes_are_too_many_unless_allowed() -> None:
    """The Topology Manager is refused on a machine with too many NUMA nodes."""
    small = [node.model_copy(update={"id": index}) for index, node in enumerate((*DGX_A100.numa, DGX_A100.numa[0]))]
    machine: Profile = DGX_A100.model_copy(update={"numa": tuple(small)})
    settings = {"topologyManagerPolicy": "best-effort"}
    assert refusal(settings, machine, 256) == "unsupported on machines with more than 8 NUMA Nodes"
    options = {"topologyManagerPolicyOptions": {"max-allowable-numa-nodes": "9"}}
    assert refusal(settings | options, machine, 256) is None
    assert refusal({"topologyManagerPolicy": "none"}, machine, 256) is None


@pytest.mark.parametrize(
    "wrong",
    [{"clusterDNS": ["192.0.2.1"]}, {"reservedSystemCPUs": 4}, {"systemReserved": "1Gi"}, {"reservedMemory": {}}],
)
def test_the_controller_refuses_types_and_its_own_fields(wrong: Settings) -> None:
    """A KubeletConfig of which OpenShift makes no MachineConfig is a failure."""
    assert str(refused_by_controller(wrong)).startswith("Error: ")


def test_a_node_keeps_for_itself_what_is_reserved() -> None:
    """Reserved CPUs and memory are not allocatable."""
    found = allocatable(RIGHT, CAPACITY)
    assert found == {"cpu": str(256 - 8), "memory": f"{((1024 - 1) * 1024 - 100) * 1024}Ki"}


def test_without_configuration_a_node_keeps_what_openshift_keeps() -> None:
    """Without a KubeletConfig a node keeps OpenShift's reservations."""
    own = {"cpu": "255500m", "memory": f"{(1023 * 1024 - 100) * 1024}Ki"}
    assert allocatable({}, CAPACITY) == own
    assert allocatable({"topologyManagerPolicy": "restricted"}, CAPACITY) == own
    node = {"status": {"capacity": CAPACITY, "allocatable": CAPACITY | own}}
    assert machine_pools.allocatable_patch(node, ignition.render("gpu", [])) is None


def test_the_configuration_reaches_the_node_in_a_file() -> None:
    """A node reads the kubelet's file of its rendered configuration."""
    assert kubelet_settings.kubelet_of(rendered(RIGHT)).items() >= RIGHT.items()
    node = {"status": {"capacity": CAPACITY, "allocatable": CAPACITY}}
    assert machine_pools.refusal(node, DGX_A100, rendered(RIGHT)) is None
    assert "unknown CPU ID" in str(machine_pools.refusal(node, DGX_A100, rendered({"reservedSystemCPUs": "256"})))


def test_only_the_first_of_a_pool_has_no_number() -> None:
    """Two KubeletConfigs have MachineConfigs of different names."""
    names = [kubeletconfigs.name_of("gpu", index) for index in range(2)]
    assert names == ["99-gpu-generated-kubelet", "99-gpu-generated-kubelet-1"]
