"""Jobs that start, start again or end."""

from dataclasses import replace
from typing import Any

from tests.support.messages import like
from tests.support.reviews import created, deleted, job, made, reported, review, same, updated
from toolkit.review import comment
from toolkit.review.model import Change, Op
from toolkit.review.subjects import jobs

AT_WORK = replace(job(8), live={"status": {"startTime": "now"}})
ENDED = replace(job(8), live={"status": {"conditions": [{"type": "Succeeded", "status": "True"}]}})

FILES = made(
    "core/v1:ConfigMap",
    {
        "metadata": {"name": "suite-runner", "namespace": "a"},
        "data": {
            "plan": "00-n.json jobs.v1.batch n-yymmddhhmm-n 3600 n\n01-r.json jobs r-yymmddhhmm-n 60 r-listener,r\n"
        },
    },
)


def test_jobs() -> None:
    """A job that is deleted or replaced while it runs is an alarm."""
    assert reported(jobs.find, review(created(job(8)))) == [like("MPIJob a/j starts ... 16 GPUs and 2 of rdma/ib0")]
    assert reported(jobs.find, review(Change(Op.REPLACE, AT_WORK, job(4), ("spec",)))) == [
        like(
            "! MPIJob a/j starts again ... 8 GPUs and 2 of rdma/ib0 ... for spec ... "
            "not finished according to the stack's state ... loses its work"
        )
    ]
    queried = Change(Op.REPLACE, replace(AT_WORK, queried=True), job(4))
    assert reported(jobs.find, review(queried))[0].endswith("; it has not finished, and loses its work")
    assert reported(jobs.find, review(deleted(ENDED))) == [
        like("MPIJob a/j is deleted ... has finished ... logs are deleted")
    ]
    assert reported(jobs.find, review(deleted(job(8)))) == [like("MPIJob a/j is deleted ... unknown")]
    assert reported(jobs.find, review(updated(job(8), job(4)))) == []
    assert reported(jobs.find, review(deleted(job(8)), drift=True)) == []


def test_from_an_mpi_job_to_a_train_job() -> None:
    """The GPUs and devices of all its nodes are counted, with which the new job starts; the old one is deleted."""
    limits = {"nvidia.com/gpu": 8, "rdma/ib0": 1}
    spec = {"runtimeRef": {"name": "torch"}, "trainer": {"numNodes": 2, "resourcesPerNode": {"limits": limits}}}
    train = made("trainer.kubeflow.org/v1alpha1:TrainJob", {"metadata": {"name": "t", "namespace": "a"}, "spec": spec})
    assert reported(jobs.find, review(deleted(ENDED), created(train))) == [
        like("MPIJob a/j is deleted ... has finished ... logs are deleted"),
        like("TrainJob a/t starts ... 16 GPUs and 2 of rdma/ib0"),
    ]


def test_a_job_that_runs_again_by_its_number() -> None:
    """A job that runs again by its number alone reports both numbers."""
    component = made("hpc:workloads:MpiJob", {"run": 1}, "j")
    old, new = (replace(each, parent=component.urn) for each in (ENDED, job(8)))
    again = review(updated(component, replace(component, inputs={"run": 2})), Change(Op.REPLACE, old, new))
    assert reported(jobs.find, again) == [
        like(
            "MPIJob a/j starts again ... 16 GPUs and 2 of rdma/ib0 ... run 1 to 2 ... has finished ... logs are deleted"
        )
    ]
    assert "Nothing of what is declared differs" not in comment.write(again)


def test_many_alike_are_one_line() -> None:
    """Many jobs of one kind are one line."""
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
    assert reported(jobs.find, found) == [
        like(
            "! MPIJob a/sweep-000 starts again ... 16 GPUs and 2 of rdma/ib0 ... run 1 to 2 ... "
            "not finished according to the stack's state ... loses its work"
        ),
        like(
            "99 jobs ... MPIJob ... namespace a start again: sweep-001 to sweep-098 and sweep-120 ... "
            "1,584 GPUs and 198 of rdma/ib0 ... run 1 to 2 ... have finished ... logs are deleted"
        ),
    ]
    text = comment.write(found)
    assert "Nothing of what is declared differs" not in text
    assert len(text) < 1_000


def test_a_job_that_keeps_its_specification() -> None:
    """A job with `on_change: keep` is an alarm with the fields that it does not take, and with how it runs again."""
    component = made("hpc:workloads:MpiJob", {"run": 1, "image": "a", "wait": "started"}, "j")
    kept = replace(same(replace(job(8), parent=component.urn)), kept=("spec.image",))
    changed = updated(component, replace(component, inputs={"run": 1, "image": "b", "wait": "finished"}))
    for parent, fields in ((same(component), "spec.image"), (changed, "image")):
        (line,) = reported(jobs.find, review(parent, kept))
        assert line.startswith("! MPIJob a/j keeps its specification (on_change: keep)")
        assert f"settings: {fields}; raise its run" in line


def suite(schedule: str = "0 2 * * 6", **more: Any) -> Any:
    """Return the CronJob of a suite."""
    pod = {
        "containers": [{"name": "runner", "env": [{"name": "HPC_REPEATS", "value": "5"}]}],
        "volumes": [{"name": "suite", "configMap": {"name": "suite-runner"}}],
    }
    spec = {"schedule": schedule, "jobTemplate": {"spec": {"template": {"spec": pod}}}, **more}
    return made("batch/v1:CronJob", {"metadata": {"name": "suite", "namespace": "a"}, "spec": spec})


def test_a_suite_is_named_with_its_jobs_and_times() -> None:
    """A reviewer reads what takes GPUs, how often, and when."""
    assert reported(jobs.find_schedules, review(created(suite(timeZone="Europe/Berlin")), created(FILES))) == [
        like("CronJob a/suite ... 0 2 * * 6 in Europe/Berlin ... 5 runs ... n and r ... one at a time")
    ]
    assert reported(jobs.find_schedules, review(updated(suite(), suite("0 3 * * *")), same(FILES))) == [
        like("CronJob a/suite ... 0 3 * * * ... 0 2 * * 6 ... 5 runs ... n and r ... one at a time")
    ]


def test_a_schedule_that_ends_leaves_its_jobs() -> None:
    """What it has started is not part of the stack."""
    assert reported(jobs.find_schedules, review(deleted(suite()))) == [
        like("CronJob a/suite is deleted ... stay ... logs ... nothing deletes them")
    ]
    assert reported(jobs.find_schedules, review(Change(Op.UPDATE, suite(), suite(suspend=True)))) == [
        like("CronJob a/suite is suspended ... nothing")
    ]
    assert reported(jobs.find_schedules, review(same(suite()))) == []
