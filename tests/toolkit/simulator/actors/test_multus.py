"""Second networks of pods."""

import json
from typing import Any, cast

import pytest

from core.apis.names import NETWORKS
from toolkit.simulator.actors import multus
from toolkit.simulator.actors.informer import Informer
from toolkit.simulator.actors.multus import NetworkError, Networks


class Cache:
    """Objects as last seen."""

    def __init__(self, *objects: dict[str, Any]) -> None:
        self.objects = list(objects)

    def items(self) -> list[dict[str, Any]]:
        """Return all."""
        return self.objects

    def get(self, name: str, namespace: str) -> dict[str, Any] | None:
        """Return one."""
        found = (each["metadata"] for each in self.objects)
        keys = [(meta["namespace"], meta["name"]) for meta in found]
        return self.objects[keys.index((namespace, name))] if (namespace, name) in keys else None


def pod(uid: str, networks: str, **fields: Any) -> dict[str, Any]:
    """Return a pod that asks for networks."""
    meta = {"name": uid, "namespace": "adas", "uid": uid, "annotations": {NETWORKS: networks}}
    return {"metadata": meta, "spec": {"containers": [{"name": "main"}], **fields}}


def definition(pool: str, master: str = "rail0", resource: str | None = None, **ipam: Any) -> dict[str, Any]:
    """Return a NetworkAttachmentDefinition."""
    config = {"type": "macvlan", "master": master, "ipam": {"type": "whereabouts", "range": pool, **ipam}}
    marks = {multus.RESOURCE: resource} if resource else {}
    meta = {"name": "rail-0", "namespace": "adas", "annotations": marks}
    return {"metadata": meta, "spec": {"config": json.dumps(config)}}


def networks(defined: dict[str, Any] | None, there: Cache | None = None) -> Networks:
    """Return the networks of a cluster."""
    known = Cache(*([defined] if defined else []))
    return Networks(cast(Informer, known), cast(Informer, there or Cache()), lambda _node: {"ibp18s0"})


@pytest.mark.parametrize(
    "requested",
    ["adas/rail-0@ib0, other", '[{"name": "rail-0", "namespace": "adas", "interface": "ib0"}, {"name": "other"}]'],
)
def test_both_forms_of_the_annotation(requested: str) -> None:
    """Networks are read from both forms; a name without a namespace is of the pod's own."""
    found = multus.attachments(pod("a", requested))
    assert [(one.namespace, one.name, one.interface) for one in found] == [
        ("adas", "rail-0", "ib0"),
        ("adas", "other", "net2"),
    ]


def test_pods_without_a_second_network() -> None:
    """Pods without networks, and on the host's network, get no annotation."""
    assert networks(None).join(pod("a", "")) is None
    assert networks(None).join(pod("a", "rail-0", hostNetwork=True)) is None


@pytest.mark.parametrize(
    ("requested", "defined", "why"),
    [
        (
            "rail-0",
            None,
            r'rail-0\) in namespace \(adas\).*network-attachment-definitions.k8s.cni.cncf.io "rail-0" not',
        ),
        ("[{}]", None, "failed to parse pod Network Attachment Selection"),
        ("rail-0", definition("nonsense"), "error parsing configuration"),
        ("rail-0", definition("192.168.10.0/24", "ibp18s0"), 'failed to lookup master "ibp18s0": Link not found'),
        ("rail-0", definition("192.168.10.0/24", resource="nvidia.com/port0"), 'specify either "device"'),
    ],
)
def test_a_sandbox_that_cannot_be_made(requested: str, defined: dict[str, Any] | None, why: str) -> None:
    """A pod waits for a network that does not exist."""
    with pytest.raises(NetworkError, match=why):
        networks(defined).join(pod("a", requested))


def test_a_port_is_joined_by_who_asks_for_it() -> None:
    """A host-device network needs the resource of its port."""
    limits = [{"name": "main", "resources": {"limits": {"nvidia.com/port0": "1"}}}]
    given = networks(definition("192.168.10.0/24", resource="nvidia.com/port0")).join(
        pod("a", "rail-0", containers=limits)
    )
    assert given is not None


def test_every_address_is_given_once() -> None:
    """Addresses are given once, are none of the nodes', and are free again after their pod."""
    there = Cache()
    all_networks = networks(definition("192.168.10.0/29", exclude=["192.168.10.1/32", "192.168.10.4/30"]), there)

    def address(uid: str) -> str:
        asking = pod(uid, "rail-0")
        there.objects.append(asking)
        joined: str = json.loads(all_networks.join(asking) or "")[1]["ips"][0]
        return joined

    assert [address("a"), address("b"), address("a")] == ["192.168.10.2", "192.168.10.3", "192.168.10.2"]
    with pytest.raises(NetworkError, match=r"Could not allocate IP in range: 192\.168\.10\.0/29"):
        address("c")
    there.objects = [each for each in there.objects if each["metadata"]["uid"] != "a"]
    assert address("c") == "192.168.10.2"


def test_addresses_outlive_a_restart() -> None:
    """Addresses that pods have are known after a restart."""
    old = pod("a", "rail-0")
    old["metadata"]["annotations"][multus.STATUS] = json.dumps([{"name": "x"}, {"ips": ["192.168.10.1"]}])
    joined = networks(definition("192.168.10.0/29"), Cache(old)).join(pod("b", "rail-0"))
    assert json.loads(joined or "")[1]["ips"] == ["192.168.10.2"]
