"""TrainJobs, and the Jobs of their JobSets."""

from typing import Any

import pytest

from core.apis import kinds, names
from tests.support.wait_objects import NOTHING, condition, event, look, meta, pod, waits
from toolkit.cli.up.waits.rules import judge_of
from toolkit.cli.up.waits.verdict import Look, Verdict


def judged(status: dict[str, Any], around: Look = NOTHING, **more: Any) -> Verdict:
    """Return the verdict on TrainJob `x`."""
    kind = kinds.TRAIN_JOB
    return judge_of(kind.group, kind.kind)(
        {"kind": kind.kind, "metadata": meta("x"), "spec": {}, "status": status, **more}, around
    )


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"conditions": [condition("Complete")]}, ("done", "")),
        (
            {"conditions": [condition("Failed", "True", "TrainingRuntimeNotSupported", "no such runtime")]},
            ("failing", "TrainingRuntimeNotSupported: no such runtime"),
        ),
        (
            {"conditions": [condition("Suspended", "True", "Suspended", "TrainJob is suspended")]},
            ("waiting", "suspended: its queue has not admitted it yet"),
        ),
        ({"jobsStatus": [{"name": "node", "active": 1}]}, ("waiting", "it runs")),
        ({}, ("waiting", "it has not started yet")),
    ],
)
def test_by_its_conditions(status: dict[str, Any], expected: tuple[str, str]) -> None:
    """Done, failed with the controller's message, suspended by a queue, running or not yet."""
    found = judged(status)
    assert (found.state, found.message) == expected


def test_pods_are_found_by_their_jobset() -> None:
    """The JobSet has the name of the TrainJob, and the Job between them another."""
    mine = pod("x-node-0-1-abcde", waits("ImagePullBackOff", "no such host"), labels={names.JOBSET_NAME: "x"})
    found = judged({}, look((kinds.POD, [mine])))
    assert (found.state, found.container) == ("failing", "main")


def test_pods_that_are_refused_are_the_jobs_of_its_jobset() -> None:
    """An SCC refuses the pods of the Job, which the JobSet owns."""
    job = {"kind": "Job", "metadata": meta("x-node-0", labels={names.JOBSET_NAME: "x"})}
    forbidden = event("x-node-0", "FailedCreate", "pods x is forbidden: no scc", kind="Job")
    found = judged({}, look((kinds.JOB, [job]), (kinds.EVENT, [forbidden])))
    assert "no scc" in found.message
