"""Second networks of pods."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from components.fabric.port_network import PortNetwork, PortNetworkArgs
from tests.components.kit import ADDRESSES, HOST_DEVICE, MACVLAN
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults


def network(**changes: Any) -> Manifest:
    """Return the manifest of a network."""
    usual: dict[str, Any] = {"network": "rail-0", "namespace": "adas", "attachment": MACVLAN, "addresses": ADDRESSES}
    args = PortNetworkArgs.model_validate(usual | changes)
    (found,) = declared(lambda: PortNetwork("rail-0", args))
    assert faults([found]) == []
    return found


@pytest.mark.parametrize(
    ("attachment", "kind", "fields"),
    [
        (MACVLAN, "MacvlanNetwork", {"master": "ens1f0np0", "mode": "bridge", "mtu": 0}),
        (MACVLAN | {"mtu": 9000}, "MacvlanNetwork", {"master": "ens1f0np0", "mode": "bridge", "mtu": 9000}),
        (HOST_DEVICE, "HostDeviceNetwork", {"resourceName": "port0"}),
    ],
)
def test_networks_have_the_shape_of_their_definitions(attachment: Any, kind: str, fields: dict[str, Any]) -> None:
    """Networks match their definitions, in the tenant's namespace."""
    found = network(attachment=attachment)
    addresses = found["spec"].pop("ipam")
    assert found["kind"] == kind
    assert found["spec"] == {"networkNamespace": "adas", **fields}
    assert "namespace" not in found["metadata"]
    assert json.loads(addresses) == {"type": "whereabouts", "range": "192.168.10.0/24", "exclude": ["192.168.10.0/28"]}
    expect_conformity(found | {"spec": found["spec"] | {"ipam": addresses}})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"attachment": HOST_DEVICE | {"mtu": 9000}}, "mtu"),
        ({"attachment": {"kind": "host-device", "resource_name": "nvidia.com/port0"}}, "resource_name"),
        ({"addresses": ADDRESSES | {"exclude": ("10.0.0.0/28",)}}, r"10\.0\.0\.0/28 is not part of 192\.168\.10\.0/24"),
        ({"addresses": {"range": "192.168.10.0/31"}}, r"192\.168\.10\.0/31 has no addresses for 2 pods"),
        (
            {"addresses": {"range": "192.168.10.0/28", "exclude": ("192.168.10.0/29", "192.168.10.8/29")}},
            "no addresses",
        ),
        ({"addresses": {"range": "192.168.10.1/24"}}, "not a valid IPv4 network"),
    ],
)
def test_wrong_networks_are_refused(changes: dict[str, Any], message: str) -> None:
    """Networks without addresses or ports for pods are refused."""
    with pytest.raises(ValidationError, match=message):
        network(**changes)


def test_network_is_awaited() -> None:
    """The provider waits until the definition exists."""
    assert network()["metadata"]["annotations"]["pulumi.com/waitFor"] == "jsonpath={.status.state}=ready"
