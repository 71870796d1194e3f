"""NicNodePolicies: which nodes they select, and what the simulated operator refuses."""

from typing import Any

from components.fabric.nic_node_policy import NicNodePolicyArgs, spec
from tests.components.kit import A100, DRIVER, PLUGIN
from toolkit.simulator.actors import network_operands, nic_node_policies
from toolkit.simulator.actors.api import Object

POOL = "hpc.pulumi/pool"
NAMESPACE = "nvidia-network-operator"
DRIVER_STATE, RDMA, SRIOV = network_operands.STATES


def policy(name: str, pool: str = "", **changes: Any) -> Object:
    """Return a NicNodePolicy as our component writes it, for the pool of its name or another."""
    usual = {"link_layer": "InfiniBand", "devices": A100, "shared": PLUGIN, "driver": DRIVER}
    given = usual | {"policy_name": name, "node_selector": {POOL: pool or name}} | changes
    return {"metadata": {"name": name, "uid": name}, "spec": spec(NicNodePolicyArgs.model_validate(given))}


def node(pool: str) -> Object:
    """Return a node of a pool, called like it."""
    return {"metadata": {"name": pool, "labels": {POOL: pool}}}


NODES = [node("training"), node("former")]


def test_two_that_select_a_node_are_an_error_of_all() -> None:
    """While a node is selected by two policies, none is acted on, and each names the node and both."""
    policies = [policy("training"), policy("former"), policy("again", "former")]
    reason = 'node selector overlap detected: node "former" is selected by policies: [again, former]'
    assert nic_node_policies.wrong(None, policies, NODES) == dict.fromkeys(("training", "former", "again"), reason)
    assert nic_node_policies.wrong(None, policies[:2], NODES) == {}
    assert nic_node_policies.wrong(None, [policy("training"), policy("again", "nowhere")], NODES) == {}


def test_a_part_is_in_one_kind_of_policy() -> None:
    """A part that the NicClusterPolicy has already is an error of the NicNodePolicy; other parts are not."""
    cluster: Object = {"spec": {"ofedDriver": {"version": "1"}}}
    found = nic_node_policies.wrong(cluster, [policy("former"), policy("training", driver=None)], NODES)
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
    made = {kind.kind: body for kind, body in RDMA.of_pool("former").manifests(NAMESPACE, policy("former")["spec"])}
    pod = made["DaemonSet"]["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {
        "feature.node.kubernetes.io/pci-15b3.present": "true",
        "network.nvidia.com/operator.mofed.wait": "false",
        POOL: "former",
    }
    assert pod["volumes"][0]["configMap"]["name"] == made["ConfigMap"]["metadata"]["name"] == "rdma-devices-former"
    assert pod["serviceAccountName"] == made["ServiceAccount"]["metadata"]["name"] == "rdma-shared-former"
