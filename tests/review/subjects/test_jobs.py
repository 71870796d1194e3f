"""Jobs that start, start again or end."""

from dataclasses import replace

from review.model import Change, Op
from review.subjects import jobs
from tests.review.subjects.test_capacity import job
from tests.support.reviews import created, deleted, review, told, updated

AT_WORK = replace(job(8), live={"status": {"startTime": "now"}})
ENDED = replace(job(8), live={"status": {"conditions": [{"type": "Succeeded", "status": "True"}]}})


def test_jobs() -> None:
    """Prevents a training run of a week that ends by a change of its environment, unread."""
    assert told(jobs.find, review(created(job(8)))) == ["MPIJob a/j starts, with 16 GPUs and 2 of rdma/ib0"]
    assert told(jobs.find, review(Change(Op.REPLACE, AT_WORK, job(4), ("spec",)))) == [
        "! MPIJob a/j starts again, with 8 GPUs and 2 of rdma/ib0 (for spec); "
        "it has not ended, as far as the stack's state knows, and loses its work"
    ]
    assert told(jobs.find, review(deleted(ENDED))) == [
        "MPIJob a/j is deleted; the earlier run has ended, its logs go with its pods"
    ]
    assert told(jobs.find, review(deleted(job(8)))) == ["MPIJob a/j is deleted; whether it still runs is not known"]
    assert told(jobs.find, review(updated(job(8), job(4)))) == []
    assert told(jobs.find, review(deleted(job(8)), drift=True)) == []
