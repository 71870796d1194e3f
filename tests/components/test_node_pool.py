"""The GPU nodes' own pool."""

import pytest

from components.node_pool import NodePool, NodePoolArgs, role
from tests.conformance.schema import expect_conformity
from tests.support.declared import declared, faults, only


def build() -> NodePool:
    """Declare a pool."""
    return NodePool("gpu-pool", NodePoolArgs(pool="gpu"))


def test_pool_takes_the_workers_configuration_and_its_own() -> None:
    """Prevents GPU nodes that lose what every worker has, such as the kubelet's and the registry's configuration."""
    pool = only(declared(build), "MachineConfigPool")
    (roles,) = pool["spec"]["machineConfigSelector"]["matchExpressions"]
    assert (roles["operator"], roles["values"]) == ("In", ["worker", "gpu"])
    expect_conformity(pool)


def test_pool_selects_the_role_that_nodes_are_given() -> None:
    """Prevents a pool without nodes, whose rollout is done before anything has changed."""
    assert only(declared(build), "MachineConfigPool")["spec"]["nodeSelector"]["matchLabels"] == role("gpu")


def test_pool_has_the_label_by_which_kubelet_configurations_choose() -> None:
    """Prevents a KubeletConfig that selects no pool: OpenShift accepts it, and nothing happens."""
    labels = only(declared(build), "MachineConfigPool")["metadata"]["labels"]
    assert labels["pools.operator.machineconfiguration.openshift.io/gpu"] == ""


@pytest.mark.parametrize(("at_once", "expected"), [("2", 2), ("25%", "25%")])
def test_nodes_at_once_are_a_number_or_a_share(at_once: str, expected: int | str) -> None:
    """Prevents "2" as a text, which the API takes for a share and refuses."""
    args = NodePoolArgs(pool="gpu", at_once=at_once)
    assert only(declared(lambda: NodePool("p", args)), "MachineConfigPool")["spec"]["maxUnavailable"] == expected


def test_our_own_rules_hold() -> None:
    """Prevents a component that the pack refuses."""
    assert faults(declared(build)) == []
