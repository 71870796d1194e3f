"""The Network Operator's NicClusterPolicy."""

import json
from typing import Any

import pulumi
import pytest
from pydantic import ValidationError

from components.fabric.network_operator import (
    NetworkOperator,
    NetworkOperatorArgs,
    NicNodePolicy,
    NicNodePolicyArgs,
    node_policy_spec,
    shared_config,
    spec,
)
from components.fabric.network_operator import spec as cluster_spec
from components.fabric.rdma_device_plugin import RdmaDevicePlugin, RdmaDevicePluginArgs, config_json
from core.hardware.profiles import PROFILES, Profile
from tests.components.kit import A100, DRIVER, PLUGIN, WHOLE, devices
from tests.components.kit import network_operator as arguments
from tests.conformance.schema import expect_conformity, violations_of
from tests.support.declared import declared, faults, only
from tests.support.recorded import component


@pytest.mark.parametrize(
    "changes",
    [{}, {"driver": None, "tolerations": ()}, {"link_layer": "Ethernet", "host_devices": WHOLE}],
    ids=("driver", "plugin-alone", "roce"),
)
def test_policy_has_the_shape_of_its_definition_and_passes_our_rules(changes: dict[str, Any]) -> None:
    """The policy matches its definition, and the policies have no finding."""
    found = declared(lambda: NetworkOperator("network", arguments(**changes)))
    assert faults(found) == []
    expect_conformity(only(found, "NicClusterPolicy"))


def test_shared_configuration_fits_the_operators_schema() -> None:
    """The shared plugin's configuration matches the operator's schema."""
    assert violations_of("rdma-device-plugin", "Configuration", json.loads(shared_config(A100))) == []


@pytest.mark.parametrize("profile", [each for each in PROFILES.values() if each.hcas], ids=lambda each: str(each.name))
def test_jobs_need_not_know_who_offers_the_devices(profile: Profile) -> None:
    """Resource names and numbers equal those of the plugin alone."""

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
    """Entries have selectors, and no deprecated `devices`."""
    entries = json.loads(spec(arguments())["rdmaSharedDevicePlugin"]["config"])["configList"]
    assert entries[0] == {
        "resourceName": "shared_ibp12s0",
        "rdmaHcaMax": 63,
        "selectors": {"ifNames": ["ibp12s0"]},
    }


def test_roce_ports_serve_no_more_pods_than_they_have_addresses() -> None:
    """hca_max is limited on RoCE, by the GIDs of a port, and not on InfiniBand."""
    many = devices(PROFILES["dgx-a100"], 100)
    assert arguments(devices=many)
    with pytest.raises(ValidationError, match="shared_ibp12s0 has hca_max 100, and a RoCE port serves 63 pods"):
        arguments(devices=many, link_layer="Ethernet")


def test_names_are_distinct() -> None:
    """Duplicate names of shared and of whole ports are refused."""
    with pytest.raises(ValidationError, match="resource_name shared_ibp12s0 is given twice"):
        arguments(devices=(A100[0], A100[0]))
    with pytest.raises(ValidationError, match="resource_name port0 is given twice"):
        arguments(host_devices={**WHOLE, "devices": WHOLE["devices"] * 2})  # type: ignore[operator]


def test_driver_says_what_it_does_to_a_node() -> None:
    """The driver unloads storage modules, restores the node's own and preserves names."""
    driver = spec(arguments())["ofedDriver"]
    assert {each["name"]: each["value"] for each in driver["env"]} == {
        "UNLOAD_STORAGE_MODULES": "true",
        "RESTORE_DRIVER_ON_POD_TERMINATION": "true",
        "CREATE_IFNAMES_UDEV": "true",
    }
    assert driver["upgradePolicy"]["autoUpgrade"] is False
    assert "ofedDriver" not in spec(arguments(driver=None))


def test_plugins_run_on_the_stacks_nodes_kept_for_gpus() -> None:
    """Driver and plugins tolerate the GPU taint, and go to the stack's own GPU nodes alone."""
    wanted = spec(arguments())
    assert wanted["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    (term,) = wanted["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": "hpc.pulumi/gpu-node", "operator": "In", "values": ["true"]}]


def test_policy_has_the_one_name_and_is_awaited() -> None:
    """The policy has the operator's only name, and the provider waits for it."""
    metadata = only(declared(lambda: NetworkOperator("network", arguments())), "NicClusterPolicy")["metadata"]
    assert metadata["name"] == "nic-cluster-policy"
    assert metadata["annotations"]["pulumi.com/waitFor"] == "jsonpath={.status.state}=ready"


@pytest.mark.parametrize("part", [{"repository": "https://nvcr.io"}, {"image": "mellanox/doca-driver"}])
def test_images_of_operands_are_checked_where_a_default_replaces_the_field(part: dict[str, str]) -> None:
    """Images of operands are validated, also where a default replaces the field."""
    with pytest.raises(ValidationError, match="string_pattern_mismatch"):
        arguments(driver=DRIVER | part)


SELECTOR = {"hpc.pulumi/pool": "former"}
COMMON = {"link_layer": "InfiniBand", "devices": A100, "shared": PLUGIN, "driver": DRIVER}


def of_pool(**changes: Any) -> NicNodePolicyArgs:
    """Return the arguments of a policy, changed."""
    return NicNodePolicyArgs.model_validate(COMMON | {"policy_name": "former", "node_selector": SELECTOR} | changes)


@pytest.mark.parametrize(
    "changes",
    [{}, {"driver": None, "tolerations": ()}, {"link_layer": "Ethernet", "host_devices": WHOLE}],
    ids=("driver", "plugin-alone", "roce"),
)
def test_it_has_the_shape_of_its_definition_and_passes_our_rules(changes: dict[str, Any]) -> None:
    """The policy matches its definition, and the policies have no finding."""
    found = declared(lambda: NicNodePolicy("network", of_pool(**changes)))
    assert faults(found) == []
    expect_conformity(only(found, "NicNodePolicy"))


def test_the_policy_of_the_cluster_has_no_part_that_those_of_nodes_have() -> None:
    """Driver and plugins are in NicNodePolicies alone, as the operator refuses a part that is in both."""
    args = NetworkOperatorArgs.model_validate(COMMON | {"node_policies": True})
    common = {"tolerations", "nodeSelector"}
    assert {*cluster_spec(args)} == {"tolerations", "nodeAffinity"}
    assert {*node_policy_spec(of_pool())} == {"ofedDriver", "rdmaSharedDevicePlugin", *common}
    expect_conformity(only(declared(lambda: NetworkOperator("network", args)), "NicClusterPolicy"))


def test_a_name_that_the_operator_refuses_is_refused() -> None:
    """The operator's webhook accepts 30 characters."""
    assert of_pool(policy_name="a" * 30)
    with pytest.raises(ValidationError, match="at most 30 characters"):
        of_pool(policy_name="a" * 31)
