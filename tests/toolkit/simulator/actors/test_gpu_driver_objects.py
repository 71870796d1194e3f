"""NVIDIADrivers as the GPU operator acts on them: which node has which driver, and what an object says."""

from typing import Any

import pytest

from components.gpu.gpu_operator import GpuDriver, GpuKind
from components.gpu.nvidia_driver import NvidiaDriverArgs, spec
from tests.support.machines import A100_SXM4_40GB
from toolkit.simulator.actors import gpu_driver_objects, gpu_operands, gpu_operator, gpus
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.gpu_driver_objects import OWNER

POOL = "hpc.pulumi/pool"
READY = {
    "metadata": {"generation": 1},
    "status": {"observedGeneration": 1, "desiredNumberScheduled": 1, "numberAvailable": 1},
}


def driver(name: str, version: str = "595.91.07", **fields: Any) -> Object:
    """Return an NVIDIADriver as our component writes it, with other fields."""
    args = NvidiaDriverArgs(
        driver_name=name,
        node_selector={POOL: name},
        driver=GpuDriver(version=version),
        gpus=GpuKind(gpu=A100_SXM4_40GB),
    )
    return {"metadata": {"name": name, "uid": name, "generation": 1}, "spec": spec(args) | fields}


def node(pool: str, **labels: str) -> Object:
    """Return a node of a pool, called like it."""
    return {"metadata": {"name": pool, "labels": {POOL: pool, **labels}}}


def reason(status: Object) -> tuple[str, str]:
    """Return the state, and the reason of the condition that is True."""
    (met,) = (each["reason"] for each in status["conditions"] if each["status"] == "True")
    return status["state"], met


def test_a_node_has_the_driver_that_selects_it_and_the_default_takes_the_rest() -> None:
    """Selectors decide first; nodes that none selects have the default's, or none."""
    drivers = [driver("former", "580.173.02"), driver("rest", default=True, nodeSelector={})]
    nodes = [node("former"), node("training")]
    assert gpu_driver_objects.owners(drivers, nodes).by_node == {"former": "former", "training": "rest"}
    assert gpu_driver_objects.owners(drivers[:1], nodes).by_node == {"former": "former"}


def test_two_that_select_a_node_are_both_not_ready_and_its_driver_stays() -> None:
    """Neither of two objects with a node in common is ready; the node keeps its owner, and no other node is touched."""
    drivers = [driver("former"), driver("again", nodeSelector={POOL: "former"}), driver("training")]
    found = gpu_driver_objects.owners(drivers, [node("former", **{OWNER: "former"}), node("training")])
    assert found.by_node == {"former": "former", "training": "training"}
    states = [reason(gpu_driver_objects.status(each, found, READY)) for each in drivers]
    assert states == [("notReady", "ConflictingNodeSelector")] * 2 + [("ready", "Reconciled")]
    (message,) = {text for _, text in found.wrong.values()}
    assert message == "node former is selected by NVIDIADrivers again and former"


@pytest.mark.parametrize(
    ("drivers", "daemon_set", "expected"),
    [
        ([driver("former")], None, ("notReady", "DriverNotReady")),
        ([driver("former")], READY, ("ready", "Reconciled")),
        ([driver("nowhere")], READY, ("notReady", "DriverNotReady")),
        ([driver(name, default=True, nodeSelector={}) for name in "ab"], READY, ("notReady", "ReconcileFailed")),
    ],
)
def test_state_of_an_object(drivers: list[Object], daemon_set: Object | None, expected: tuple[str, str]) -> None:
    """It is ready with its pods; two defaults are an error."""
    owners = gpu_driver_objects.owners(drivers, [node("former")])
    assert reason(gpu_driver_objects.status(drivers[0], owners, daemon_set)) == expected


def test_its_pods_have_its_version_on_its_nodes_alone() -> None:
    """The DaemonSet selects by the owner's label beside the operator's own; the pod has version and kernel module."""
    one = driver("former", "580.173.02", kernelModuleType="proprietary")
    body = gpu_driver_objects.manifests(one, "nvidia-gpu-operator")[-1][1]
    template = body["spec"]["template"]
    assert template["spec"]["nodeSelector"] == {"nvidia.com/gpu.deploy.driver": "true", OWNER: "former"}
    assert gpus.driver_version(template) == "580.173.02"
    assert template["spec"]["tolerations"][0]["key"] == "nvidia.com/gpu"
    assert body["spec"]["updateStrategy"] == {"type": "OnDelete"}
    other = gpu_driver_objects.manifests(driver("training"), "nvidia-gpu-operator")[-1][1]
    assert other["metadata"]["name"] != body["metadata"]["name"]


def test_with_objects_the_policy_has_no_driver_of_its_own() -> None:
    """A ClusterPolicy that leaves the drivers to objects has no driver's DaemonSet; without it objects are disabled."""
    assert not gpu_operands.DRIVER.enabled({"driver": {"enabled": True, "useNvidiaDriverCRD": True}})
    assert gpu_operands.DRIVER.enabled({"driver": {"enabled": True}})
    assert reason(gpu_driver_objects.disabled(driver("former"))) == ("disabled", "Reconciled")


def test_nodes_have_the_label_of_their_owner() -> None:
    """The operator sets and removes the owner's label."""
    with_gpu = {"feature.node.kubernetes.io/pci-10de.present": "true"}
    assert gpu_operator.node_labels(node("former", **with_gpu), {}, "former")[OWNER] == "former"
    assert gpu_operator.node_labels(node("former", **with_gpu, **{OWNER: "former"}), {})[OWNER] is None
