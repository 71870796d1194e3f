"""The Network Operator's NicClusterPolicy."""

import json
from typing import Any

import jsonschema
import pulumi
import pytest
from pydantic import ValidationError

from components.network_operator import NetworkOperator, NetworkOperatorArgs, shared_config, spec
from components.rdma_device_plugin import RdmaDevice, RdmaDevicePlugin, RdmaDevicePluginArgs, config_json
from hardware.profiles import PROFILES, Profile
from tests.conformance.schema import expect_conformity
from tests.support.declared import declared, faults, only
from tests.support.recorded import SHARED, component

PLUGIN = {"version": "network-operator-v26.4.1"}
DRIVER = {"version": "doca3.4.1-26.04-1.1.0.0-1"}
WHOLE = {"version": "network-operator-v26.4.1", "devices": ({"resource_name": "port0", "interfaces": ("ens1f0np0",)},)}


def devices(profile: Profile, hca_max: int = 63) -> tuple[RdmaDevice, ...]:
    """Return one resource for each HCA of a machine, as the stacks name them."""
    return tuple(
        RdmaDevice(resource_name=f"shared_{hca.netdev}", hca_max=hca_max, devices=(hca.netdev,)) for hca in profile.hcas
    )


A100 = devices(PROFILES["dgx-a100"])


def arguments(**changes: Any) -> NetworkOperatorArgs:
    """Return the arguments for a DGX A100."""
    usual: dict[str, Any] = {"link_layer": "InfiniBand", "devices": A100, "shared": PLUGIN, "driver": DRIVER}
    return NetworkOperatorArgs.model_validate(usual | changes)


@pytest.mark.parametrize(
    "changes",
    [{}, {"driver": None, "tolerations": (), "node_selector": {}}, {"link_layer": "Ethernet", "host_devices": WHOLE}],
    ids=("driver", "plugin-alone", "roce"),
)
def test_policy_has_the_shape_of_its_definition_and_passes_our_rules(changes: dict[str, Any]) -> None:
    """Prevents a misspelt field, and a configuration that either plugin or a rule of ours refuses."""
    found = declared(lambda: NetworkOperator("network", arguments(**changes)))
    assert faults(found) == []
    expect_conformity(only(found, "NicClusterPolicy"))


def test_shared_configuration_fits_the_operators_schema() -> None:
    """Prevents a policy that the operator's webhook refuses."""
    file = SHARED / "crds" / "rdma_shared_device_plugin.schema.json"
    if not file.exists():
        pytest.skip("the plugin's schema is not beside the checkout (../shared/crds)")
    jsonschema.validate(json.loads(shared_config(A100)), json.loads(file.read_text()))


@pytest.mark.parametrize("profile", [each for each in PROFILES.values() if each.hcas], ids=lambda each: str(each.name))
def test_jobs_need_not_know_who_offers_the_devices(profile: Profile) -> None:
    """Prevents jobs that wait for ever after a change from the DaemonSet to the operator: names and numbers agree."""

    def offered(text: str) -> Any:
        return [(entry["resourceName"], entry["rdmaHcaMax"]) for entry in json.loads(text)["configList"]]

    wanted = devices(profile)
    assert offered(shared_config(wanted)) == offered(config_json(wanted))
    seen: list[list[str]] = []

    def build() -> None:
        plugin = RdmaDevicePlugin("one", RdmaDevicePluginArgs(devices=wanted, image="a/b:c"))
        operator = NetworkOperator("other", arguments(devices=wanted))
        for resources in (plugin.resources, operator.resources):
            pulumi.Output.from_input(resources).apply(seen.append)

    component(build)
    assert seen[0] == seen[1]
    assert len(seen[0]) == len(profile.hcas)


def test_selectors_and_never_devices() -> None:
    """Prevents an entry with both or neither, at which the plugin ends; `devices` is the deprecated one."""
    entries = json.loads(spec(arguments())["rdmaSharedDevicePlugin"]["config"])["configList"]
    assert entries[0] == {
        "resourceName": "shared_ibp12s0",
        "rdmaHcaMax": 63,
        "selectors": {"ifNames": ["ibp12s0"]},
    }


def test_roce_ports_serve_no_more_pods_than_they_have_addresses() -> None:
    """Prevents pods that the node admits and that find no GID left; InfiniBand may have more."""
    many = devices(PROFILES["dgx-a100"], 100)
    assert arguments(devices=many)
    with pytest.raises(ValidationError, match="shared_ibp12s0 has hca_max 100, and a RoCE port serves 63 pods"):
        arguments(devices=many, link_layer="Ethernet")


def test_names_are_distinct() -> None:
    """Prevents a plugin that ends at its start, of shared and of whole ports."""
    with pytest.raises(ValidationError, match="resource_name shared_ibp12s0 is given twice"):
        arguments(devices=(A100[0], A100[0]))
    with pytest.raises(ValidationError, match="resource_name port0 is given twice"):
        arguments(host_devices={**WHOLE, "devices": WHOLE["devices"] * 2})  # type: ignore[operator]


def test_driver_says_what_it_does_to_a_node() -> None:
    """Prevents a driver that cannot replace the node's own, and ports that change their names or stay away."""
    driver = spec(arguments())["ofedDriver"]
    assert {each["name"]: each["value"] for each in driver["env"]} == {
        "UNLOAD_STORAGE_MODULES": "true",
        "RESTORE_DRIVER_ON_POD_TERMINATION": "true",
        "CREATE_IFNAMES_UDEV": "true",
    }
    assert driver["upgradePolicy"]["autoUpgrade"] is False
    assert "ofedDriver" not in spec(arguments(driver=None))


def test_plugins_run_on_workers_kept_for_gpus() -> None:
    """Prevents a taint on GPU nodes from keeping the adapters' driver away from them."""
    wanted = spec(arguments())
    assert wanted["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    (term,) = wanted["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": "node-role.kubernetes.io/worker", "operator": "In", "values": [""]}]


def test_policy_has_the_one_name_and_is_awaited() -> None:
    """Prevents a policy that the operator ignores, and jobs before the driver is there."""
    metadata = only(declared(lambda: NetworkOperator("network", arguments())), "NicClusterPolicy")["metadata"]
    assert metadata["name"] == "nic-cluster-policy"
    assert metadata["annotations"]["pulumi.com/waitFor"] == "jsonpath={.status.state}=ready"


@pytest.mark.parametrize("part", [{"repository": "https://nvcr.io"}, {"image": "mellanox/doca-driver"}])
def test_images_of_operands_are_checked_where_a_default_replaces_the_field(part: dict[str, str]) -> None:
    """Prevents an operand with a default of its own from taking a name that the operator cannot join."""
    with pytest.raises(ValidationError, match="string_pattern_mismatch"):
        arguments(driver=DRIVER | part)
