"""What device plugins offer, from their configuration and pods."""

import json
from typing import Any

import pytest

from core.hardware.profiles import profile
from toolkit.simulator import names
from toolkit.simulator.actors import devices

DGX = profile("dgx1-v100-16gb")
DRIVER = "quay.io/openshift-psap/nvidia-driver-container:v440.64"
PLUGIN = "nvcr.io/nvidia/k8s-device-plugin:1.0.0-beta6"
NODE: dict[str, Any] = {"metadata": {"name": "dgx01"}}
RDMA = "mellanox/k8s-rdma-shared-dev-plugin:v1.0.0"


def pod(image: str, **annotations: str) -> dict[str, Any]:
    """Return a pod of one container."""
    return {"metadata": {"annotations": annotations}, "spec": {"containers": [{"image": image}]}}


def config(*entries: dict[str, Any]) -> str:
    """Return a config.json."""
    return json.dumps({"configList": list(entries)})


def test_resources_are_those_of_the_configuration() -> None:
    """The resources are config.json's, also for a device that no node has (upstream issue 44)."""
    text = config(
        {"resourceName": "shared_ib0", "rdmaHcaMax": 100, "devices": ["ib0"]},
        {"resourceName": "none", "rdmaHcaMax": 5, "devices": ["ib99"]},
        {"resourceName": "sel", "resourcePrefix": "example.com", "rdmaHcaMax": 7, "selectors": {"ifNames": ["ib1"]}},
    )
    assert devices.rdma_resources(text) == {"rdma/shared_ib0": 100, "rdma/none": 5, "example.com/sel": 7}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "no configList"),
        ("{}", "no configList"),
        (config({"resourceName": "a-b", "rdmaHcaMax": 1, "devices": ["ib0"]}), "a-b"),
        (config(*[{"resourceName": "a", "rdmaHcaMax": 1, "devices": ["ib0"]}] * 2), "twice"),
        (config({"resourceName": "a", "rdmaHcaMax": 1}), "either devices or selectors"),
        (config({"resourceName": "a", "rdmaHcaMax": -1, "devices": ["ib0"]}), "-1"),
    ],
)
def test_plugin_refuses_a_bad_configuration(text: str, complaint: str) -> None:
    """A configuration that the real plugin refuses gives no resources."""
    with pytest.raises(ValueError, match=complaint):
        devices.rdma_resources(text)


def test_gpus_need_driver_plugin_and_hardware() -> None:
    """A node offers GPUs only with a driver, and where it has some."""
    assert devices.offered(DGX, NODE, [pod(DRIVER), pod(PLUGIN)]) == {"nvidia.com/gpu": 8}
    assert devices.offered(DGX, NODE, [pod(PLUGIN)]) == {}
    assert devices.offered(DGX, NODE, [pod(DRIVER)]) == {}
    assert devices.offered(None, NODE, [pod(DRIVER), pod(PLUGIN)]) == {}


def test_a_driver_of_the_host_is_enough_for_the_plugin() -> None:
    """A driver of the host counts as one, and GPUs need a plugin."""
    host = {"metadata": {"name": "dgx01", "annotations": {names.HOST_DRIVER: "true"}}}
    assert devices.offered(DGX, host, [pod(PLUGIN)]) == {"nvidia.com/gpu": 8}
    assert devices.offered(DGX, host, []) == {}


def test_rdma_is_what_the_plugin_read_at_its_start() -> None:
    """A changed ConfigMap takes effect after a restart only."""
    assert devices.offered(DGX, NODE, [pod(RDMA, **{names.RDMA_CONFIG: '{"rdma/shared_ib0": 100}'})]) == {
        "rdma/shared_ib0": 100
    }
    assert devices.offered(DGX, NODE, [pod(RDMA)]) == {}


def _node(amounts: dict[str, str], **annotations: str) -> dict[str, Any]:
    """Return a node all of whose capacity is allocatable."""
    status = {"capacity": dict(amounts), "allocatable": dict(amounts)}
    return {"metadata": {"name": "dgx01", "annotations": annotations}, "status": status}


def test_a_gone_plugin_leaves_zero_and_an_equal_node_is_left_alone() -> None:
    """A patch has only what changed of the plugins' resources."""
    sliced = _node({"nvidia.com/mig-1g.5gb": "56", "hugepages-2Mi": "0"})
    assert devices.capacity_patch(sliced, {}) == {
        "status": {key: {"nvidia.com/mig-1g.5gb": "0"} for key in ("capacity", "allocatable")}
    }
    node = _node({"cpu": "80", "nvidia.com/gpu": "8"})
    assert devices.capacity_patch(node, {"nvidia.com/gpu": 8}) is None
    gone = {"nvidia.com/gpu": "0", "rdma/shared_ib0": "100"}
    assert devices.capacity_patch(node, {"rdma/shared_ib0": 100}) == {"status": {"capacity": gone, "allocatable": gone}}


def test_a_gpu_off_the_bus_is_not_allocatable() -> None:
    """The node still has its GPU as capacity, and no pod is given it; a repaired one is offered again."""
    amounts = {"nvidia.com/gpu": "8"}
    fallen = _node(amounts, **{names.FAULTS: '{"gpus_off_the_bus": [3]}'})
    patch = {"status": {"capacity": amounts, "allocatable": {"nvidia.com/gpu": "7"}}}
    assert devices.capacity_patch(fallen, {"nvidia.com/gpu": 8}) == patch
    after = {**fallen, "status": patch["status"]}
    assert devices.capacity_patch(after, {"nvidia.com/gpu": 8}) is None
    repaired = {**after, "metadata": {"name": "dgx01"}}
    assert devices.capacity_patch(repaired, {"nvidia.com/gpu": 8}) == {
        "status": {"capacity": amounts, "allocatable": amounts}
    }
