"""What CronJobs will start."""

from typing import Any

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
        "CronJob a/suite starts on 0 2 * * 6 in Europe/Berlin: 5 runs of each of n and r, one at a time"
    ]
    assert reported(schedules.find, review(updated(suite(), suite("0 3 * * *")), same(FILES))) == [
        "CronJob a/suite starts on 0 3 * * * (until now 0 2 * * 6): 5 runs of each of n and r, one at a time"
    ]


def test_a_schedule_that_ends_leaves_its_jobs() -> None:
    """What it has started is not part of the stack."""
    assert reported(schedules.find, review(deleted(suite()))) == [
        "CronJob a/suite is deleted; jobs that it has started stay, with their logs, and nothing deletes them"
    ]
    assert reported(schedules.find, review(Change(Op.UPDATE, suite(), suite(suspend=True)))) == [
        "CronJob a/suite is suspended and starts nothing"
    ]
    assert reported(schedules.find, review(same(suite()))) == []
