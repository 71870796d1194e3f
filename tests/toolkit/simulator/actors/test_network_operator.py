"""The network operator: what it makes, and what it says of it."""

import json
from typing import Any

import pytest

from components.fabric.network_operator import NetworkOperatorArgs, NicNodePolicyArgs, node_policy_spec, spec
from components.fabric.port_network import PortNetworkArgs
from components.fabric.port_network import spec as port_spec
from core.hardware.profiles import PROFILES
from tests.components.kit import A100, DRIVER, PLUGIN, WHOLE
from toolkit.simulator import names
from toolkit.simulator.actors import devices, network_operands, network_operator
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.multus import RESOURCE

ADAPTER = "feature.node.kubernetes.io/pci-15b3.present"
DRIVER_STATE, RDMA, SRIOV = network_operands.STATES


def policy(**changes: Any) -> Object:
    """Return the `spec` of a NicClusterPolicy as our component writes it."""
    usual: dict[str, Any] = {"link_layer": "InfiniBand", "devices": A100, "shared": PLUGIN, "driver": DRIVER}
    return spec(NetworkOperatorArgs.model_validate(usual | changes))


def made(state: network_operands.State, wanted: Object) -> dict[str, Object]:
    """Return what is made for a state, by kind."""
    return {body["kind"]: body for _, body in state.manifests("nvidia-network-operator", wanted)}


def test_the_plugins_wait_for_the_driver() -> None:
    """The plugin waits for the driver, and the operands tolerate the platform's taints."""
    parts = made(RDMA, policy())
    pod = parts["DaemonSet"]["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {ADAPTER: "true", "network.nvidia.com/operator.mofed.wait": "false"}
    assert pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in pod["tolerations"]
    driver = made(DRIVER_STATE, policy())["DaemonSet"]["spec"]
    assert driver["template"]["spec"]["nodeSelector"] == {ADAPTER: "true"}
    assert driver["updateStrategy"] == {"type": "OnDelete"}


def test_the_plugin_reads_what_the_policy_says() -> None:
    """The plugin offers the resources of the policy's configuration."""
    text = made(RDMA, policy())["ConfigMap"]["data"]["config.json"]
    assert devices.rdma_resources(text) == {f"rdma/{each.resource_name}": each.hca_max for each in A100}


def test_whole_ports_are_those_that_are_there() -> None:
    """A port that the machine does not have is not offered."""
    whole = WHOLE | {"devices": ({"resource_name": "port0", "interfaces": ("ibp12s0", "ens1f0np0")},)}
    text = made(SRIOV, policy(host_devices=whole))["ConfigMap"]["data"]["config.json"]
    assert devices.host_devices(text, {"ibp12s0", "ibp18s0"}) == {"nvidia.com/port0": ["ibp12s0"]}
    assert devices.host_devices(text, set()) == {"nvidia.com/port0": []}
    with pytest.raises(ValueError, match="no resourceList"):
        devices.host_devices('{"resourceList": [{"resourceName": "a"}]}', set())


def test_ports_are_called_as_udev_rules_say() -> None:
    """A renamed port is found by its new name only."""
    machine = PROFILES["dgx-a100"]
    plain: Object = {"metadata": {"name": "n"}}
    there, former = devices.ports(machine, plain)
    assert "ibp12s0" in there
    assert former == set()
    renamed = {"metadata": {"name": "n", "annotations": {names.INTERFACES: '["rail0", "ibp18s0"]'}}}
    there, former = devices.ports(machine, renamed)
    assert there == {"rail0", "ibp18s0"}
    assert "ibp12s0" in former
    assert devices.ports(None, plain) == (set(), set())


@pytest.mark.parametrize(
    ("present", "there", "wanted", "ready", "value"),
    [
        ("true", True, True, False, "true"),
        ("true", True, True, True, "false"),
        ("true", True, False, False, "false"),
        ("true", False, False, False, None),
        ("false", True, True, True, None),
    ],
)
def test_who_waits_for_the_driver(*, present: str, there: bool, wanted: bool, ready: bool, value: str | None) -> None:
    """GPU drivers and plugins wait for the network driver exactly where the policy requests one."""
    node = {"metadata": {"name": "n", "labels": {ADAPTER: present}}}
    found = network_operator.waits(node, {"spec": {}} if there else None, driver=wanted, ready=ready)
    assert found == value


def test_state_of_a_policy() -> None:
    """A policy is ready when all requested parts have their pods, and no others count."""
    full: Object = {
        "metadata": {"generation": 1},
        "status": {"observedGeneration": 1, "desiredNumberScheduled": 1, "numberReady": 1},
    }
    assert network_operator.status({RDMA.name: full})["state"] == "ready"
    found = network_operator.status({RDMA.name: full, DRIVER_STATE.name: None})
    assert found["state"] == "notReady"
    assert found["appliedStates"][0] == {"name": "state-OFED", "state": "notReady"}
    assert found["appliedStates"][2] == {"name": "state-SRIOV-device-plugin", "state": "ignore"}


def network(attachment: dict[str, Any]) -> Object:
    """Return a network as our component declares it."""
    usual = {"network": "rail-0", "namespace": "adas", "addresses": {"range": "192.168.10.0/24"}}
    args = PortNetworkArgs.model_validate(usual | {"attachment": attachment})
    kind = {"macvlan": "MacvlanNetwork", "host-device": "HostDeviceNetwork"}[attachment["kind"]]
    return {"kind": kind, "metadata": {"name": "rail-0"}, "spec": port_spec(args)}


def test_networks_become_definitions_in_the_tenants_namespace() -> None:
    """A network is in the namespace of its pods, with its addresses."""
    _, body = network_operands.network(network({"kind": "macvlan", "master": "ens1f0np0"}))
    assert body["metadata"]["namespace"] == "adas"
    config = json.loads(body["spec"]["config"])
    assert (config["type"], config["master"], config["mode"]) == ("macvlan", "ens1f0np0", "bridge")
    assert config["ipam"] == {"type": "whereabouts", "range": "192.168.10.0/24"}
    _, body = network_operands.network(network({"kind": "host-device", "resource_name": "port0"}))
    assert body["metadata"]["annotations"][RESOURCE] == "nvidia.com/port0"


POOL = "hpc.pulumi/pool"
NAMESPACE = "nvidia-network-operator"


def node_policy(name: str, pool: str = "", **changes: Any) -> Object:
    """Return a NicNodePolicy as our component writes it, for the pool of its name or another."""
    usual = {"link_layer": "InfiniBand", "devices": A100, "shared": PLUGIN, "driver": DRIVER}
    given = usual | {"policy_name": name, "node_selector": {POOL: pool or name}} | changes
    return {"metadata": {"name": name, "uid": name}, "spec": node_policy_spec(NicNodePolicyArgs.model_validate(given))}


def node(pool: str) -> Object:
    """Return a node of a pool, called like it."""
    return {"metadata": {"name": pool, "labels": {POOL: pool}}}


NODES = [node("training"), node("former")]


def test_two_that_select_a_node_are_an_error_of_all() -> None:
    """While a node is selected by two policies, none is acted on, and each names the node and both."""
    policies = [node_policy("training"), node_policy("former"), node_policy("again", "former")]
    reason = 'node selector overlap detected: node "former" is selected by policies: [again, former]'
    assert network_operator.refusals(None, policies, NODES) == dict.fromkeys(("training", "former", "again"), reason)
    assert network_operator.refusals(None, policies[:2], NODES) == {}
    assert network_operator.refusals(None, [node_policy("training"), node_policy("again", "nowhere")], NODES) == {}


def test_a_part_is_in_one_kind_of_policy() -> None:
    """A part that the NicClusterPolicy has already is an error of the NicNodePolicy; other parts are not."""
    cluster: Object = {"spec": {"ofedDriver": {"version": "1"}}}
    found = network_operator.refusals(cluster, [node_policy("former"), node_policy("training", driver=None)], NODES)
    assert found == {
        "former": 'NicClusterPolicy already defines ofedDriver; NicNodePolicy "former" cannot also define it'
    }


def test_its_pods_run_on_its_nodes_alone_under_names_of_their_own() -> None:
    """DaemonSets, accounts and configuration have the policy's name, and its selector beside the operator's own."""
    for state, name in (
        (DRIVER_STATE, "mofed-rhcos4.20-former-ds"),
        (RDMA, "rdma-shared-dp-ds-former"),
        (SRIOV, "net-op-sriov-device-plugin-former"),
    ):
        assert state.of_pool("former").daemon_set == name
    made = {
        kind.kind: body for kind, body in RDMA.of_pool("former").manifests(NAMESPACE, node_policy("former")["spec"])
    }
    pod = made["DaemonSet"]["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {
        "feature.node.kubernetes.io/pci-15b3.present": "true",
        "network.nvidia.com/operator.mofed.wait": "false",
        POOL: "former",
    }
    assert pod["volumes"][0]["configMap"]["name"] == made["ConfigMap"]["metadata"]["name"] == "rdma-devices-former"
    assert pod["serviceAccountName"] == made["ServiceAccount"]["metadata"]["name"] == "rdma-shared-former"
