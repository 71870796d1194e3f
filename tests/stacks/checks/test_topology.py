"""Levels of the fabric in the settings: nodes without a place, unknown levels, and jobs that no domain holds."""

from typing import Any

import pytest

from stacks.loading.settings import parse
from tests.support.stack_settings import MPI, changed, data, example, expect_refusal

NEAR = MPI | {"tenant": "language"}


def _roce(places: list[dict[str, str]], **topology: Any) -> dict[str, Any]:
    """Return the data of stack prod on nodes of which no document plans switches, each with its place."""
    content = data("h100-roce")
    queues = data("superpod-a100")["queues"]
    (gpu,) = (node for node in content["nodes"] if "machine" in node)
    others = [node for node in content["nodes"] if node is not gpu]
    nodes = [{**gpu, "name": f"gpu{number}.example.com", "topology": place} for number, place in enumerate(places)]
    for tenant in content["tenants"]:
        tenant["gpu_quota"] = 8 * len(nodes) // len(content["tenants"])
    return content | {
        "nodes": [*others, *nodes],
        "queues": queues | {"topology": topology},
        "stages": [],
        "suite": None,
    }


@pytest.mark.parametrize(
    ("places", "topology", "expected"),
    [
        (
            [{}, {}],
            {},
            "queues.topology: no document plans switches for dgx-h100 on roce; give … {leaf: leaf",
        ),
        ([{"leaf": "a"}, {}], {}, "nodes: topology of gpu1.example.com has no leaf …; give it, or say existing: true"),
        ([{"leaf": "a", "rack": "r"}], {}, "gpu0.example.com has rack … levels leaf; add it to queues.topology.levels"),
        ([{"leaf": "a", "leafs": "b"}], {}, "has leafs …, or write leaf"),
        ([{"leaf": "a"}], {"jobs": {"preferred": "rack"}}, "queues.topology.jobs.preferred rack …; use leaf or host"),
        ([{"leaf": "a"}], {"jobs": {}}, "queues.topology.jobs: required and preferred: neither …; give one of them"),
        (
            [{"rack": "a"}],
            {"levels": [{"name": "rack"}]},
            "queues.topology.levels[0]: level rack: label is missing; give",
        ),
        (
            [{"leaf": "a"}],
            {"levels": [{"name": "host", "label": "x"}]},
            "level host: hosts are always the last …",
        ),
        (
            [{"leaf": "a"}],
            {"levels": [{"name": "leaf"}, {"name": "rack", "label": "network.topology.nvidia.com/leaf"}]},
            "label network.topology.nvidia.com/leaf is given twice; give each",
        ),
    ],
)
def test_levels_that_nodes_do_not_have_are_refused(
    places: list[dict[str, str]], topology: dict[str, Any], expected: str
) -> None:
    """A message has path, value and remedy."""
    expect_refusal(_roce(places, **topology), expected)


def test_nodes_may_have_the_label_from_elsewhere() -> None:
    """A level whose label others set needs no places in the settings."""
    level = {"name": "clique", "label": "nvidia.com/gpu.clique", "existing": True}
    settings = parse(_roce([{}, {}], levels=[level], jobs={"required": "clique"}), "test")
    assert settings.queues


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        (
            NEAR | {"topology": {"required": "rack"}},
            "job it…: topology.required rack is not a level …; use leaf or host",
        ),
        (
            NEAR | {"layout": {"pods": 21, "gpus": 8}, "topology": {"required": "leaf"}},
            "topology.required leaf: layout 21x08 takes 168 GPUs, and no leaf … largest has 160 …; lower … preferred",
        ),
        (
            NEAR | {"layout": {"pods": 2, "gpus": 8}, "topology": {"required": "host"}},
            "topology.required host: layout 02x08 takes 16 GPUs, and no host … largest has 8",
        ),
        (
            NEAR | {"layout": None, "gpus": 168, "topology": {"required": "leaf"}},
            "in one leaf: 168 GPUs … 160 free",
        ),
    ],
)
def test_jobs_that_no_domain_holds_are_refused(workload: dict[str, Any], expected: str) -> None:
    """What Kueue would keep waiting for ever is refused before."""
    expect_refusal(example("superpod-a100", workload), expected)


def test_places_and_requests_need_topology_aware_scheduling() -> None:
    """Without it they would have no effect, and are refused."""
    job = MPI | {"topology": {"required": "leaf"}}
    expect_refusal(example("prod", job), "topology: without queues.topology …; give that, or leave it out")
    content = data("prod")
    content["nodes"][-1]["topology"] = {"leaf": "leaf-1"}
    expect_refusal(content, "nodes: topology of … no effect without queues.topology; give it, or leave")


def test_a_version_of_kueue_without_topology_is_refused() -> None:
    """The table of the release says which versions of the operator serve it."""
    content = changed("superpod-a100", queues__operator__channel="stable-v1.1")
    expect_refusal(content, "queues.topology: version 1.1 … stable-v1.1 … OpenShift 4.20; use a channel of 1.3 or 1.4")


@pytest.mark.parametrize(
    ("nodes", "request_", "expected"),
    [
        (
            {"training": {"leaf": "a"}, "inference": {"leaf": "a"}},
            None,
            "nodes: topology of l40s-01.… in pool inference has leaf a like nodes of pool training, and the fabrics of "
            "the two differ; give it a value of its own, e.g. inference-a",
        ),
        ({}, None, "queues.topology: no document plans switches for dgx-h100 on roce; give each GPU node its place"),
        (
            {"training": {"leaf": "a"}, "inference": {"leafs": "b"}},
            None,
            "nodes: topology of l40s-01.… has leafs, and queues.topology the levels leaf; …, or write leaf",
        ),
        (
            {"training": {"leaf": "a"}},
            {"required": "leaf"},
            "job it…: topology.required leaf is not a level of queues.topology in pool inference; use host",
        ),
    ],
)
def test_pools_of_other_fabrics_have_domains_of_their_own(
    nodes: dict[str, dict[str, str]], request_: dict[str, str] | None, expected: str
) -> None:
    """Places that could be taken for another pool's, and levels that a job's pool lacks, are refused."""
    content = data("mixed") | {"stages": []}
    content["queues"]["topology"] = {}
    for node in content["nodes"]:
        if place := nodes.get(node.get("pool")):
            node["topology"] = place
    if request_:
        work = MPI | {"tenant": "products", "name": "it", "pool": "inference", "layout": "1x4", "topology": request_}
        content["stages"] = [{"name": "all", "workloads": [work | {"image": "quay.io/example/nccl:1"}]}]
    expect_refusal(content, expected)
