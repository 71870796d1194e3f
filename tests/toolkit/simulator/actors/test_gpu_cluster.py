"""The GPUCluster of GPU Operator 26.7: what it makes, where, and what nodes are labelled with."""

from typing import Any

import pytest

from core.apis import kinds
from toolkit.simulator.actors import gpu_cluster_objects as objects
from toolkit.simulator.actors.dra_plugin import containers
from toolkit.simulator.actors.gpu_cluster_operator import conditions, node_labels

FOUND = {"feature.node.kubernetes.io/pci-10de.present": "true"}
GPUS_ONLY = {"draDriver": {"computeDomains": {"enabled": False}}}


def made(spec: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """Return kind and name -> the object, of those that a GPUCluster makes."""
    return {(kind.kind, body["metadata"]["name"]): body for kind, body in objects.manifests(spec, "gpus")}


def pod(spec: dict[str, Any], kind: str, name: str) -> Any:
    """Return the pod of a DaemonSet or a Deployment."""
    return made(spec)[kind, name]["spec"]["template"]["spec"]


@pytest.mark.parametrize(("spec", "domains"), [({"draDriver": {}}, True), (GPUS_ONLY, False)])
def test_compute_domains_can_be_switched_off(spec: dict[str, Any], *, domains: bool) -> None:
    """GPUs are always there; for ComputeDomains it makes the controller, two classes and the plugin's other part."""
    names = {*made(spec)}
    classes = {name for kind, name in names if kind == kinds.DEVICE_CLASS.kind}
    gpus = {"gpu.nvidia.com", "mig.nvidia.com", "vfio.gpu.nvidia.com"}
    others = {"compute-domain-daemon.nvidia.com", "compute-domain-default-channel.nvidia.com"}
    assert classes == gpus | (others if domains else set())
    assert (("Deployment", objects.CONTROLLER) in names) == domains
    plugin = pod(spec, "DaemonSet", objects.PLUGIN)
    assert len(containers({"spec": plugin})) == 1 + domains


def test_a_class_selects_by_the_drivers_attributes() -> None:
    """Its own class has no extended resource, unlike the chart's: a name with two meanings."""
    channel = made({"draDriver": {}})["DeviceClass", "compute-domain-default-channel.nvidia.com"]["spec"]
    assert channel == {
        "selectors": [
            {
                "cel": {
                    "expression": "device.driver == 'compute-domain.nvidia.com' &&"
                    " device.attributes['compute-domain.nvidia.com'].type == 'channel' &&"
                    " device.attributes['compute-domain.nvidia.com'].id == 0"
                }
            }
        ]
    }


@pytest.mark.parametrize(
    ("driver", "image"),
    [
        ({}, objects.IMAGE),
        (
            {"repository": "mirror/nvidia", "image": "dra-driver-nvidia-gpu", "version": "v0.5.1"},
            "mirror/nvidia/dra-driver-nvidia-gpu:v0.5.1",
        ),
        (
            {"repository": "mirror", "image": "d", "version": "sha256:0"},
            "mirror/d@sha256:0",
        ),
    ],
)
def test_the_drivers_image(driver: dict[str, str], image: str) -> None:
    """The operator's own, or the one that the object names, for all three programs."""
    spec = {"draDriver": driver}
    assert {container["image"] for container in pod(spec, "DaemonSet", objects.PLUGIN)["containers"]} == {image}
    (controller,) = pod(spec, "Deployment", objects.CONTROLLER)["containers"]
    assert controller["image"] == image
    assert {"name": "IMAGE_NAME", "value": image} in controller["env"]


def test_gates_reach_plugin_and_controller() -> None:
    """The driver's feature gates are a variable of each of its containers."""
    spec = {"draDriver": {"featureGates": {"DynamicMIG": True, "AdminAccess": False}}}
    gates = {"name": "FEATURE_GATES", "value": "AdminAccess=false,DynamicMIG=true"}
    both = (
        *pod(spec, "DaemonSet", objects.PLUGIN)["containers"],
        *pod(spec, "Deployment", objects.CONTROLLER)["containers"],
    )
    assert all(gates in container["env"] for container in both)


def test_an_exporter_sees_all_gpus_and_holds_none() -> None:
    """It asks for all of them with adminAccess; switched off it is not there."""
    spec: dict[str, Any] = {"draDriver": {}}
    (request,) = made(spec)["ResourceClaimTemplate", "nvidia-dcgm-exporter-admin"]["spec"]["spec"]["devices"][
        "requests"
    ]
    assert request["exactly"] == {"deviceClassName": "gpu.nvidia.com", "adminAccess": True, "allocationMode": "All"}
    off = {**spec, "dcgmExporter": {"enabled": False}}
    assert ("DaemonSet", objects.EXPORTER) not in made(off)
    assert objects.EXPORTER not in objects.daemon_sets(off)


@pytest.mark.parametrize(("host", "driver"), [(True, "pre-installed"), (False, "true")])
def test_labels_of_a_node_with_gpus(host: bool, driver: str) -> None:
    """It gets those of claims, and loses those of the device plugin."""
    marks = {"hpc.sim/host-driver": "true"} if host else {}
    labels = {**FOUND, "nvidia.com/gpu.deploy.device-plugin": "true"}
    changes = node_labels({"metadata": {"name": "n", "labels": labels, "annotations": marks}}, None)
    assert changes == {
        "nvidia.com/gpu.deploy.device-plugin": None,
        "nvidia.com/gpu.deploy.driver": driver,
        "nvidia.com/gpu.present": "true",
        **{
            f"nvidia.com/gpu.deploy.{part}": "true"
            for part in ("dra-driver", "dra-validator", "dcgm-dra", "dcgm-exporter-dra")
        },
    }


def test_nodes_that_are_left_alone() -> None:
    """A node without GPUs gets no label, and one that its user excludes no operand's."""
    assert node_labels({"metadata": {"name": "n", "labels": {}}}, None) == {}
    excluded = {"metadata": {"name": "n", "labels": {**FOUND, "nvidia.com/gpu.deploy.operands": "false"}}}
    assert node_labels(excluded, None) == {"nvidia.com/gpu.present": "true"}


def test_conditions_say_why_it_is_not_ready() -> None:
    """The condition Error has reason and message; Ready has them once it is."""
    listed = conditions({}, "PrerequisiteNotMet", "both", ready=False)
    assert [(entry["type"], entry["status"], entry["reason"], entry["message"]) for entry in listed] == [
        ("Error", "True", "PrerequisiteNotMet", "both"),
        ("Ready", "False", "Error", ""),
    ]
