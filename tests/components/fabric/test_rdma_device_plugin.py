"""The shared RDMA device plugin."""

import json

import pulumi
import pytest
from pydantic import ValidationError

from components.fabric.rdma_device_plugin import RdmaDevice, RdmaDevicePlugin, RdmaDevicePluginArgs, config_json
from tests.conformance.schema import violations_of
from tests.support.recorded import component, environment, only_object, spec

IMAGE = "mellanox/k8s-rdma-shared-dev-plugin:v1.0.0"


def devices(count: int) -> tuple[RdmaDevice, ...]:
    """Return that many devices."""
    return tuple(RdmaDevice(resource_name=f"shared_ib{port}", devices=(f"ib{port}",)) for port in range(count))


def test_dev_offers_the_four_hcas_of_the_redpaper() -> None:
    """The dev stack offers the Redpaper's four HCAs."""
    data = only_object(environment("dev"), "ConfigMap", "rdma-devices").inputs["data"]
    assert json.loads(data["config.json"]) == {
        "configList": [
            {"resourceName": f"shared_ib{port}", "rdmaHcaMax": 100, "devices": [f"ib{port}"]} for port in range(4)
        ]
    }


def test_configuration_fits_the_published_schema() -> None:
    """The configuration matches the plugin's published schema."""
    assert violations_of("rdma-device-plugin", "Configuration", json.loads(config_json(devices(4)))) == []


def test_pods_restart_when_the_configuration_changes() -> None:
    """A changed configuration changes the pod template."""

    def digest(count: int) -> str:
        recorded = component(
            lambda: RdmaDevicePlugin("rdma", RdmaDevicePluginArgs(devices=devices(count), image=IMAGE))
        )
        annotations = spec(recorded, "DaemonSet")["template"]["metadata"]["annotations"]
        return str(annotations["hpc.pulumi/config-sha256"])

    assert digest(4) != digest(3)


def test_its_account_may_use_the_privileged_scc_and_no_other() -> None:
    """The plugin's account may use the SCC privileged, and no other."""
    recorded = environment("dev")
    role = only_object(recorded, "Role", "rdma-shared-dp-ds").inputs
    assert role["rules"] == [
        {
            "apiGroups": ["security.openshift.io"],
            "resources": ["securitycontextconstraints"],
            "resourceNames": ["privileged"],
            "verbs": ["use"],
        }
    ]
    assert spec(recorded, "DaemonSet")["template"]["spec"]["serviceAccountName"] == "rdma-shared-dp-ds"


@pytest.mark.parametrize("name", ["shared-ib0", "", "shared.ib0"])
def test_resource_names_are_what_the_plugin_accepts(name: str) -> None:
    """Resource names that the plugin refuses are refused."""
    with pytest.raises(ValidationError):
        RdmaDevice(resource_name=name, devices=("ib0",))


def test_resource_names_are_unique() -> None:
    """Duplicate resource names are refused."""
    with pytest.raises(ValidationError, match="shared_ib0 is given twice"):
        RdmaDevicePluginArgs(devices=devices(1) * 2, image=IMAGE)


def test_outputs_name_the_resources() -> None:
    """The output names the resources."""
    seen: list[list[str]] = []

    def build() -> None:
        plugin = RdmaDevicePlugin("rdma", RdmaDevicePluginArgs(devices=devices(2), image=IMAGE))
        pulumi.Output.from_input(plugin.resources).apply(seen.append)

    component(build)
    assert seen == [["rdma/shared_ib0", "rdma/shared_ib1"]]
