"""The bond of the Ethernet fabric."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.fabric.bond import Bond, BondArgs
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults, only

ARGS: dict[str, Any] = {"node_selector": {"nvidia.com/gpu.present": "true"}, "ports": ("ens1", "ens2", "ens3", "ens4")}


def policy(**changed: Any) -> Manifest:
    """Return the policy."""
    args = BondArgs.model_validate({**ARGS, **changed})
    found = declared(lambda: Bond("bond", args))
    assert faults(found) == []
    return only(found, "NodeNetworkConfigurationPolicy")


def test_all_ports_are_one_link_with_lacp() -> None:
    """The bond has the switch's mode, LACP, and one MTU."""
    bond, *ports = policy()["spec"]["desiredState"]["interfaces"]
    assert bond["link-aggregation"] == {
        "mode": "802.3ad",
        "options": {"miimon": "100", "lacp_rate": "fast", "xmit_hash_policy": "layer3+4"},
        "port": ["ens1", "ens2", "ens3", "ens4"],
    }
    assert {port["mtu"] for port in ports} == {bond["mtu"]} == {9000}
    assert bond["ipv4"] == {"enabled": True, "dhcp": True}


def test_nodes_get_it_one_by_one() -> None:
    """Nodes are changed one by one unless `at_once` is set."""
    assert policy()["spec"]["maxUnavailable"] == 1
    assert policy(at_once="50%")["spec"]["maxUnavailable"] == "50%"


def test_without_dhcp_the_bond_has_no_address() -> None:
    """Without DHCP, IPv4 is disabled and dhcp is absent."""
    assert policy(dhcp=False)["spec"]["desiredState"]["interfaces"][0]["ipv4"] == {"enabled": False}


@pytest.mark.parametrize(
    "wrong",
    [
        {"ports": ("ens1",)},
        {"ports": ("ens1", "ens1")},
        {"ports": ("ens1", "bond0")},
        {"ports": ("ens1", "an-interface-name-too-long")},
        {"node_selector": {}},
        {"mtu": 10000},
        {"at_once": "0"},
        {"at_once": "101%"},
    ],
)
def test_bonds_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    """Ports given twice, wrong names and bounds are refused."""
    with pytest.raises(ValidationError):
        BondArgs.model_validate({**ARGS, **wrong})


def test_it_has_the_shape_of_its_definition() -> None:
    """The object matches its definition."""
    expect_conformity(policy())
