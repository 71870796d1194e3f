"""The device plugin for drivers of the host."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.gpu.gpu_device_plugin import GpuDevicePlugin, GpuDevicePluginArgs
from tests.support.declared import Manifest, declared, faults, only
from tests.support.recorded import component, only_object

IMAGE = "nvcr.io/nvidia/k8s-device-plugin:1.11"


def plugin(**changed: Any) -> list[Manifest]:
    """Return what the plugin consists of."""
    args = GpuDevicePluginArgs.model_validate({"image": IMAGE, **changed})
    return declared(lambda: GpuDevicePlugin("gpu-plugin", args))


def test_it_is_of_an_api_that_is_served_and_has_its_selector() -> None:
    """The DaemonSet is apps/v1, with a selector and a priority class."""
    made = only(plugin(), "DaemonSet")
    template = made["spec"]["template"]
    assert made["apiVersion"] == "apps/v1"
    assert made["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    assert template["spec"]["priorityClassName"] == "system-node-critical"
    assert "annotations" not in template["metadata"]


def test_it_runs_on_labelled_nodes_as_little_as_it_needs() -> None:
    """The plugin runs on labelled nodes, unprivileged, with the SELinux type it needs."""
    pod = only(plugin(), "DaemonSet")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["nodeSelector"] == {"openshift.com/gpu-accelerator": "true", "hpc.pulumi/gpu-node": "true"}
    assert {toleration["key"] for toleration in pod["tolerations"]} == {"CriticalAddonsOnly", "nvidia.com/gpu"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seLinuxOptions": {"type": "nvidia_container_t"},
    }
    assert pod["volumes"] == [{"name": "device-plugins", "hostPath": {"path": "/var/lib/kubelet/device-plugins"}}]


def test_names_of_the_environment_are_spelt_as_the_hook_reads_them() -> None:
    """Variables have the spelling that the runtime's hook reads."""
    (container,) = only(plugin(), "DaemonSet")["spec"]["template"]["spec"]["containers"]
    assert {entry["name"]: entry["value"] for entry in container["env"]} == {
        "NVIDIA_VISIBLE_DEVICES": "all",
        "NVIDIA_DRIVER_CAPABILITIES": "utility",
    }


def test_account_comes_first_and_our_rules_have_nothing_against_it() -> None:
    """The DaemonSet comes after its account, and the policies have no finding."""
    assert faults(plugin()) == []
    args = GpuDevicePluginArgs(image=IMAGE)
    recorded = component(lambda: GpuDevicePlugin("gpu-plugin", args))
    before = {urn.rsplit("::", 1)[0].rsplit(":", 1)[1] for urn in only_object(recorded, "DaemonSet").dependencies}
    assert before == {"ServiceAccount", "RoleBinding"}, "a binding comes after its role"


@pytest.mark.parametrize("wrong", [{"image": "nvidia/k8s-device-plugin"}, {"node_selector": {}}, {"selinux_type": "x"}])
def test_guesses_are_refused(wrong: dict[str, Any]) -> None:
    """An image that moves, an empty selector and an unknown type are refused."""
    with pytest.raises(ValidationError):
        GpuDevicePluginArgs.model_validate({"image": IMAGE, **wrong})
