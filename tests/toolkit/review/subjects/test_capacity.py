"""GPUs and RDMA devices against what the nodes have."""

from typing import Any

from tests.support.messages import like
from tests.support.reviews import created, deleted, job, made, reported, review, same, updated
from toolkit.review.cluster_facts import Facts, NodeFacts
from toolkit.review.subjects import capacity

FACTS = Facts(nodes=tuple(NodeFacts(name=f"n{index}", gpus=8, rdma=("rdma/ib0",)) for index in range(2)))


def quota(gpus: int) -> Any:
    """Return a quota."""
    return made(
        "core/v1:ResourceQuota",
        {"metadata": {"name": "q", "namespace": "a"}, "spec": {"hard": {"requests.nvidia.com/gpu": str(gpus)}}},
    )


def test_claims_of_jobs() -> None:
    """A job that needs more than the nodes have is an alarm."""
    assert reported(capacity.find, review(created(job(8)), facts=FACTS)) == [], "reported with the jobs"
    assert reported(capacity.find, review(updated(job(4), job(8, pods=3)), facts=FACTS)) == [
        like("! MPIJob a/j ... 24 GPUs and 3 of rdma/ib0 ... was 8 GPUs and 2 of rdma/ib0 ... 16 ... never starts")
    ]
    assert reported(capacity.find, review(created(job(1, "rdma/ib9")), facts=FACTS)) == [
        like("! MPIJob a/j ... 2 GPUs and 2 of rdma/ib9 ... no node ... rdma/ib9")
    ]
    assert reported(capacity.find, review(deleted(job(8)), facts=FACTS)) == []
    assert reported(capacity.find, review(same(job(80)), facts=FACTS)) == []


def test_promises_of_quotas() -> None:
    """Quotas that exceed the GPUs of the nodes are an alarm."""
    assert reported(capacity.find, review(updated(quota(8), quota(12)), facts=FACTS)) == [
        like("quotas ... 12 GPUs (was 8) of 16 ... 4 ... no one"),
        "  a 12 (was 8)",
    ]
    assert reported(capacity.find, review(created(quota(20)), facts=FACTS))[0] == (
        like("! quotas ... 20 GPUs (was 0) of 16 ... not all")
    )
    assert reported(capacity.find, review(updated(quota(8), quota(8)), facts=FACTS)) == []
