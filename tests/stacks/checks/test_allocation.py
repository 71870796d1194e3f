"""GPUs by claims, and ComputeDomains: what is refused, with one message each."""

from typing import Any

import pytest

from stacks.loading.settings import parse
from tests.support.stack_settings import changed, data, expect_refusal

CLAIMS, RACKS = "h200-dra", "gb200-nvl72"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"release": "4.20"}, "gpu.allocation: OpenShift 4.20 does not support dra; use device-plugin, … 4.21 or 4.22"),
        (
            {"gpu__mig": "mixed"},
            "gpu.mig mixed: a GPUCluster has no MIG manager … set none, or allocation device-plugin",
        ),
        ({"gpu__driver": {"version": "570.211.01"}}, "gpu.driver.version 570.211.01: allocation dra needs branch 580"),
        ({"gpu__operator__channel": "v26.3"}, "gpu.allocation dra: GPU Operator 26.3 … use 26.7 or later"),
        ({"queues__operator__channel": "stable-v1.3"}, "gpu.allocation dra: Kueue 1.3 … use 1.4 or later"),
        (
            {"queues__topology": {"jobs": {"preferred": "leaf"}}},
            "queues.topology: Kueue does not count claimed devices",
        ),
        (
            {"gpu__compute_domains": {}},
            "gpu.compute_domains: no NVLink joins several machines of dgx-h200; leave it out",
        ),
    ],
)
def test_claims_without_what_they_need_are_refused(settings: dict[str, Any], expected: str) -> None:
    """Release, operator, driver, Kueue and machine must serve claims."""
    expect_refusal(changed(CLAIMS, **settings), expected)


def racks(**workload: Any) -> dict[str, Any]:
    """Return the two racks with one job, which differs in these fields."""
    content = data(RACKS)
    first = content["stages"][0]["workloads"][0]
    content["stages"] = [{"name": "nccl", "workloads": [first | workload]}]
    return content


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        (
            {"layout": {"pods": 4, "gpus": 2}},
            "a node has one IMEX channel … use pods of 4 GPUs, or set compute_domain to",
        ),
        ({"layout": {"pods": 20, "gpus": 4}}, "required accelerator: layout 20x04 takes 80 GPUs … the largest has 72"),
        ({"layout": {"pods": 1, "gpus": 4}, "compute_domain": True}, "compute_domain true: one pod needs none; leave"),
    ],
)
def test_a_job_that_no_domain_can_hold_is_refused(workload: dict[str, Any], expected: str) -> None:
    """Pods that would share a channel, a job of 80 GPUs on racks of 72, and a domain of one pod."""
    expect_refusal(racks(**workload), expected)


def test_a_job_that_may_be_on_two_racks_says_so() -> None:
    """Without a request of its racks nothing keeps a job in one; with one it is accepted."""
    content = racks(layout={"pods": 4, "gpus": 4})
    del content["queues"]["topology"]["jobs"]
    expect_refusal(content, "its pods may be on several racks, … set topology: {required: accelerator}")
    content["stages"][0]["workloads"][0] |= {"layout": {"pods": 20, "gpus": 4}}
    expect_refusal(content, "takes 80 GPUs, and NVLink joins the 72 of a rack; … {preferred: accelerator}")
    content["stages"][0]["workloads"][0] |= {"topology": {"preferred": "accelerator"}}
    assert parse(content, "test")


def test_a_rack_of_too_many_trays_is_refused() -> None:
    """NVLink joins 18 trays."""
    content = racks()
    for node in content["nodes"]:
        node.update({"topology": {"accelerator": "rack-1"}} if "topology" in node else {})
    expect_refusal(content, "nodes: topology: accelerator rack-1 has 36 nodes, and NVLink joins 18 of gb200-tray")


def test_mig_is_refused_beside_domains() -> None:
    """MIG instances have no NVLink."""
    expect_refusal(changed(RACKS, gpu__mig="mixed"), "gpu.mig mixed: MIG instances have no NVLink")
