"""Drivers of GPUs and networks."""

from typing import Any

from tests.support.reviews import created, deleted, made, reported, review, same, updated
from toolkit.review.cluster_facts import Facts, NodeFacts
from toolkit.review.subjects import drivers

FACTS = Facts(nodes=(NodeFacts(name="n", gpus=8),))


def policy(version: str, automatic: bool = False, **more: Any) -> Any:
    """Return a ClusterPolicy."""
    driver = {"version": version, "upgradePolicy": {"autoUpgrade": automatic}}
    return made("nvidia.com/v1:ClusterPolicy", {"metadata": {"name": "p"}, "spec": {"driver": driver, **more}})


def of_pool(version: str, automatic: bool = False) -> Any:
    """Return an NVIDIADriver."""
    spec = {"version": version, "upgradePolicy": {"autoUpgrade": automatic}, "nodeSelector": {"pool": "former"}}
    return made("nvidia.com/v1alpha1:NVIDIADriver", {"metadata": {"name": "former"}, "spec": spec})


def test_drivers_of_pools() -> None:
    """Another version of an NVIDIADriver is reported with the object, and that such objects take over with an alarm."""
    assert reported(drivers.find, review(updated(of_pool("1", True), of_pool("2", True)), facts=FACTS)) == [
        "! GPU driver 2 (was 1) of NVIDIADriver former: the operator deletes the pods with devices and loads it, "
        "node by node"
    ]
    assert reported(drivers.find, review(created(of_pool("1")))) == [
        "NVIDIADriver former is new, with GPU driver 1: its operator loads drivers and device plugins"
    ]
    objects = made(
        "nvidia.com/v1:ClusterPolicy", {"metadata": {"name": "p"}, "spec": {"driver": {"useNvidiaDriverCRD": True}}}
    )
    assert reported(drivers.find, review(updated(policy("1"), objects))) == [
        "! GPU driver comes from NVIDIADrivers, whose pods replace those of now"
    ]


def test_adapter_drivers_of_pools() -> None:
    """A NicNodePolicy's driver is reported with the object, and that such objects take over with an alarm."""
    old, new = (
        made(
            "mellanox.com/v1alpha1:NicNodePolicy",
            {"metadata": {"name": "former"}, "spec": {"ofedDriver": {"version": version}}},
        )
        for version in ("doca1", "doca2")
    )
    assert reported(drivers.find, review(updated(old, new), facts=FACTS)) == [
        "network driver doca2 (was doca1) of NicNodePolicy former: each node loads it when its driver's pod is "
        "restarted, as automatic upgrades are off"
    ]
    both = (
        made("mellanox.com/v1alpha1:NicClusterPolicy", {"metadata": {"name": "p"}, "spec": spec})
        for spec in ({"ofedDriver": {"version": "doca1"}}, {})
    )
    assert reported(drivers.find, review(updated(*both), created(new))) == [
        "! network driver comes from NicNodePolicies, whose pods replace those of now",
        "NicNodePolicy former is new, with network driver doca2: its operator loads drivers and device plugins",
    ]


def test_drivers() -> None:
    """Another driver version is reported with its nodes."""
    assert reported(drivers.find, review(updated(policy("1"), policy("2")), facts=FACTS)) == [
        "GPU driver 2 (was 1) on 1 node: each node loads it when its driver's pod is restarted, "
        "as automatic upgrades are off"
    ]
    assert reported(drivers.find, review(updated(policy("1", True), policy("2", True)), facts=FACTS)) == [
        "! GPU driver 2 (was 1) on 1 node: the operator deletes the pods with devices and loads it, node by node"
    ]
    assert reported(drivers.find, review(updated(policy("1"), policy("1", gdrcopy={"enabled": True})))) == [
        "ClusterPolicy p changes gdrcopy: its operator starts those pods again"
    ]
    assert reported(drivers.find, review(created(policy("1")))) == [
        "ClusterPolicy p is new, with GPU driver 1: its operator loads drivers and device plugins"
    ]
    assert reported(drivers.find, review(deleted(policy("1")))) == [
        "! ClusterPolicy p is deleted, with GPU driver 1: GPUs or RDMA devices leave the nodes, their pods end"
    ]
    assert reported(drivers.find, review(same(policy("1")))) == []
