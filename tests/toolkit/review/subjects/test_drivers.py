"""Drivers of GPUs and networks."""

from typing import Any

from tests.support.messages import like
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
        like("! GPU driver 2 (was 1) of NVIDIADriver former ... operator deletes ... node by node")
    ]
    assert reported(drivers.find, review(created(of_pool("1")))) == [
        like("NVIDIADriver former is new ... GPU driver 1")
    ]
    objects = made(
        "nvidia.com/v1:ClusterPolicy", {"metadata": {"name": "p"}, "spec": {"driver": {"useNvidiaDriverCRD": True}}}
    )
    assert reported(drivers.find, review(updated(policy("1"), objects))) == [
        like("! GPU driver ... NVIDIADrivers ... replace")
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
        like("network driver doca2 (was doca1) of NicNodePolicy former ... restarted ... automatic upgrades are off")
    ]
    both = (
        made("mellanox.com/v1alpha1:NicClusterPolicy", {"metadata": {"name": "p"}, "spec": spec})
        for spec in ({"ofedDriver": {"version": "doca1"}}, {})
    )
    assert reported(drivers.find, review(updated(*both), created(new))) == [
        like("! network driver ... NicNodePolicies ... replace"),
        like("NicNodePolicy former is new ... network driver doca2"),
    ]


def test_drivers() -> None:
    """Another driver version is reported with its nodes."""
    assert reported(drivers.find, review(updated(policy("1"), policy("2")), facts=FACTS)) == [
        like("GPU driver 2 (was 1) on 1 node ... restarted ... automatic upgrades are off")
    ]
    assert reported(drivers.find, review(updated(policy("1", True), policy("2", True)), facts=FACTS)) == [
        like("! GPU driver 2 (was 1) on 1 node ... operator deletes ... node by node")
    ]
    assert reported(drivers.find, review(updated(policy("1"), policy("1", gdrcopy={"enabled": True})))) == [
        like("ClusterPolicy p ... gdrcopy ... again")
    ]
    assert reported(drivers.find, review(created(policy("1")))) == [like("ClusterPolicy p is new ... GPU driver 1")]
    assert reported(drivers.find, review(deleted(policy("1")))) == [
        like("! ClusterPolicy p is deleted ... GPU driver 1 ... leave the nodes")
    ]
    assert reported(drivers.find, review(same(policy("1")))) == []
