"""Jobs that start, start again or end."""

from dataclasses import replace

from review import comment
from review.model import Change, Op
from review.subjects import jobs
from tests.review.subjects.test_capacity import job
from tests.support.reviews import created, deleted, made, review, told, updated

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


def test_a_job_that_runs_again_by_its_number() -> None:
    """Prevents a job that is replaced for a reason which nobody finds in what is declared."""
    component = made("hpc:workloads:MpiJob", {"run": 1}, "j")
    parts = [replace(each, parent=component.urn) for each in (ENDED, job(8))]
    again = review(updated(component, replace(component, inputs={"run": 2})), Change(Op.REPLACE, *parts))
    assert told(jobs.find, again) == [
        "MPIJob a/j starts again, with 16 GPUs and 2 of rdma/ib0 (run 1 to 2); "
        "the earlier run has ended, its logs go with its pods"
    ]
    assert "Nothing of what is declared differs" not in comment.write(again)


def test_many_alike_are_one_line() -> None:
    """Prevents a hundred lines that differ in one number, and a hundred folded blocks with nothing in them."""
    changes = []
    for index in [*range(99), 120]:
        inputs = {**ENDED.inputs, "metadata": {"name": f"sweep-{index:03}", "namespace": "a"}}
        component = made("hpc:workloads:MpiJob", {"run": 1}, f"sweep-{index:03}")
        after = made("kubeflow.org/v2beta1:MPIJob", inputs, parent=component.urn)
        changes += [
            updated(component, replace(component, inputs={"run": 2})),
            Change(Op.REPLACE, replace(after, live=ENDED.live if index else AT_WORK.live), after),
        ]
    found = review(*changes)
    assert told(jobs.find, found) == [
        "! MPIJob a/sweep-000 starts again, with 16 GPUs and 2 of rdma/ib0 (run 1 to 2); "
        "it has not ended, as far as the stack's state knows, and loses its work",
        "99 jobs of kind MPIJob in namespace a start again: sweep-001 to sweep-098 and sweep-120, "
        "with 1,584 GPUs and 198 of rdma/ib0 in all (run 1 to 2); "
        "the earlier runs have ended, their logs go with their pods",
    ]
    text = comment.write(found)
    assert "Nothing of what is declared differs" not in text
    assert len(text) < 1_000
