"""GPUs and RDMA devices against what the nodes have."""

from typing import Any

from review.facts import Facts, NodeFacts
from review.subjects import capacity
from tests.support.reviews import created, deleted, made, review, same, told, updated

FACTS = Facts(nodes=tuple(NodeFacts(name=f"n{index}", gpus=8, rdma=("rdma/ib0",)) for index in range(2)))


def job(gpus: int, device: str = "rdma/ib0", pods: int = 2) -> Any:
    """Return an MPIJob."""
    container = {"name": "c", "resources": {"limits": {"nvidia.com/gpu": gpus, device: 1}}}
    worker = {"replicas": pods, "template": {"spec": {"containers": [container]}}}
    return made(
        "kubeflow.org/v2beta1:MPIJob",
        {"metadata": {"name": "j", "namespace": "a"}, "spec": {"mpiReplicaSpecs": {"Worker": worker}}},
    )


def quota(gpus: int) -> Any:
    """Return a quota."""
    return made(
        "core/v1:ResourceQuota",
        {"metadata": {"name": "q", "namespace": "a"}, "spec": {"hard": {"requests.nvidia.com/gpu": str(gpus)}}},
    )


def test_claims_of_jobs() -> None:
    """Prevents a job that waits for ever for GPUs or devices that no node has."""
    assert told(capacity.find, review(created(job(8)), facts=FACTS)) == [], "told with the jobs"
    assert told(capacity.find, review(updated(job(4), job(8, pods=3)), facts=FACTS)) == [
        "! MPIJob a/j claims 24 GPUs and 3 of rdma/ib0 (was 8 GPUs and 2 of rdma/ib0); "
        "the nodes have 16: it never starts"
    ]
    assert told(capacity.find, review(created(job(1, "rdma/ib9")), facts=FACTS)) == [
        "! MPIJob a/j claims 2 GPUs and 2 of rdma/ib9; no node offers rdma/ib9"
    ]
    assert told(capacity.find, review(deleted(job(8)), facts=FACTS)) == []
    assert told(capacity.find, review(same(job(80)), facts=FACTS)) == []


def test_promises_of_quotas() -> None:
    """Prevents quotas that promise more than there is, which nobody adds up."""
    assert told(capacity.find, review(updated(quota(8), quota(12)), facts=FACTS)) == [
        "quotas promise 12 GPUs (was 8) of 16 that the nodes have; 4 are nobody's",
        "  a 12 (was 8)",
    ]
    assert told(capacity.find, review(created(quota(20)), facts=FACTS))[0] == (
        "! quotas promise 20 GPUs (was 0) of 16 that the nodes have: not all can be had at once"
    )
    assert told(capacity.find, review(updated(quota(8), quota(8)), facts=FACTS)) == []
