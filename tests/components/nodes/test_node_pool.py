"""The GPU nodes' own pool."""

import pytest

from components.nodes.node_pool import NodePool, NodePoolArgs, role
from tests.conformance.schema import expect_conformity
from tests.support.declared import declared, faults, only


def build() -> NodePool:
    """Declare a pool."""
    return NodePool("gpu-pool", NodePoolArgs(pool="gpu"))


def test_pool_takes_the_workers_configuration_and_its_own() -> None:
    """The pool selects the workers' MachineConfigs and its own."""
    pool = only(declared(build), "MachineConfigPool")
    (roles,) = pool["spec"]["machineConfigSelector"]["matchExpressions"]
    assert (roles["operator"], roles["values"]) == ("In", ["worker", "gpu"])
    expect_conformity(pool)


def test_pool_selects_the_role_that_nodes_are_given() -> None:
    """The pool selects the role that NodeLabels sets."""
    assert only(declared(build), "MachineConfigPool")["spec"]["nodeSelector"]["matchLabels"] == role("gpu")


def test_pool_has_the_label_by_which_kubelet_configurations_choose() -> None:
    """The pool has the label that KubeletConfig selects."""
    labels = only(declared(build), "MachineConfigPool")["metadata"]["labels"]
    assert labels["pools.operator.machineconfiguration.openshift.io/gpu"] == ""


@pytest.mark.parametrize(("at_once", "expected"), [("2", 2), ("25%", "25%")])
def test_nodes_at_once_are_a_number_or_a_share(at_once: str, expected: int | str) -> None:
    """MaxUnavailable is a number, or a share as text."""
    args = NodePoolArgs(pool="gpu", at_once=at_once)
    assert only(declared(lambda: NodePool("p", args)), "MachineConfigPool")["spec"]["maxUnavailable"] == expected


def test_our_own_rules_hold() -> None:
    """The policies have no finding."""
    assert faults(declared(build)) == []
