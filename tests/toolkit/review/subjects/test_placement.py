"""Placement by the levels of the fabric."""

from typing import Any

from tests.support.reviews import nothing, reported, reviewed
from toolkit.review.subjects import placement

LEAF = "network.topology.nvidia.com/leaf"


def _without(platform: dict[str, Any]) -> None:
    del platform["queues"]["topology"]
    for workload in platform["stages"][1]["workloads"]:
        workload.pop("topology", None)


def _with(platform: dict[str, Any]) -> None:
    platform["queues"]["topology"] = {"jobs": {"preferred": "leaf"}}


def test_queues_that_begin_and_cease_to_place_by_the_fabric() -> None:
    """Every tenant's queue is reported with the levels that decide, and with those before."""
    found = reported(placement.find, reviewed(_with, "superpod-a100", before=_without))
    text = f"jobs of language are admitted when their pods fit on nodes, by {LEAF} and kubernetes.io/hostname"
    assert any(f"{text} (was by quotas alone)" in line for line in found), found
    found = reported(placement.find, reviewed(_without, "superpod-a100"))
    assert any("jobs of driving are admitted by quotas alone" in line for line in found), found
    assert reported(placement.find, reviewed(nothing, "superpod-a100")) == []


def test_a_queue_of_several_pools_has_the_levels_of_all() -> None:
    """The flavor of launchers has the hosts alone, and that of a pool the levels of its fabric."""

    def placed(platform: dict[str, Any]) -> None:
        platform["queues"]["topology"] = {}
        platform["nodes"][2]["topology"] = {"leaf": "leaf-1"}

    found = reported(placement.find, reviewed(placed, "mixed"))
    text = f"jobs of research are admitted when their pods fit on nodes, by {LEAF} and kubernetes.io/hostname"
    assert any(text in line for line in found), found


def test_nodes_that_move() -> None:
    """Nodes that the settings put elsewhere are reported together, with both places."""

    def move(platform: dict[str, Any]) -> None:
        platform["nodes"][2]["name"] = "dgx[001-138].pod.example.com"
        moved = {**platform["nodes"][2], "name": "dgx[139-140].pod.example.com", "topology": {"leaf": "elsewhere"}}
        platform["nodes"].append(moved)

    assert reported(placement.find, reviewed(move, "superpod-a100")) == [
        f"2 nodes of {LEAF} pod-1-unit-7: elsewhere now",
        "  dgx139.pod.example.com and dgx140.pod.example.com",
    ]
