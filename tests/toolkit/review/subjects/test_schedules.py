"""What CronJobs will start."""

from typing import Any

from tests.support.messages import like
from tests.support.reviews import created, deleted, made, reported, review, same, updated
from toolkit.review.model import Change, Op
from toolkit.review.subjects import schedules

FILES = made(
    "core/v1:ConfigMap",
    {
        "metadata": {"name": "suite-runner", "namespace": "a"},
        "data": {
            "plan": "00-n.json jobs.v1.batch n-yymmddhhmm-n 3600 n\n01-r.json jobs r-yymmddhhmm-n 60 r-listener,r\n"
        },
    },
)


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
    assert reported(schedules.find, review(created(suite(timeZone="Europe/Berlin")), created(FILES))) == [
        like("CronJob a/suite ... 0 2 * * 6 in Europe/Berlin ... 5 runs ... n and r ... one at a time")
    ]
    assert reported(schedules.find, review(updated(suite(), suite("0 3 * * *")), same(FILES))) == [
        like("CronJob a/suite ... 0 3 * * * ... 0 2 * * 6 ... 5 runs ... n and r ... one at a time")
    ]


def test_a_schedule_that_ends_leaves_its_jobs() -> None:
    """What it has started is not part of the stack."""
    assert reported(schedules.find, review(deleted(suite()))) == [
        like("CronJob a/suite is deleted ... stay ... logs ... nothing deletes them")
    ]
    assert reported(schedules.find, review(Change(Op.UPDATE, suite(), suite(suspend=True)))) == [
        like("CronJob a/suite is suspended ... nothing")
    ]
    assert reported(schedules.find, review(same(suite()))) == []
