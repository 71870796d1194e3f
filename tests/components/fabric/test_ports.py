"""The MTU of a fabric's ports."""

import pytest

from components.fabric.ports import Ports, PortsArgs
from tests.conformance.schema import expect_conformity
from tests.support.declared import declared, faults, only

ARGS = PortsArgs(node_selector={"node": "dgx"}, ports=("rail0", "rail1"), mtu=9216)


def test_every_port_has_the_mtu() -> None:
    """Every port gets the MTU."""
    policy = only(declared(lambda: Ports("ports", ARGS)), "NodeNetworkConfigurationPolicy")
    found = [(port["name"], port["mtu"]) for port in policy["spec"]["desiredState"]["interfaces"]]
    assert found == [("rail0", 9216), ("rail1", 9216)]
    expect_conformity(policy)


def test_nodes_change_one_after_another() -> None:
    """Nodes are changed one by one."""
    policy = only(declared(lambda: Ports("ports", ARGS)), "NodeNetworkConfigurationPolicy")
    assert policy["spec"]["maxUnavailable"] == 1


def test_a_port_is_named_once() -> None:
    """A duplicate port is refused."""
    with pytest.raises(ValueError, match="ports: rail0 is given twice"):
        PortsArgs(node_selector={"node": "dgx"}, ports=("rail0", "rail0"), mtu=9216)


def test_our_own_rules_hold() -> None:
    """The policies have no finding."""
    assert faults(declared(lambda: Ports("ports", ARGS))) == []
