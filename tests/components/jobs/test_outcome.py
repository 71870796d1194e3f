"""Verdicts on jobs."""

from collections.abc import Mapping
from typing import Any

import pulumi
import pytest

from components.jobs import outcome
from components.jobs.outcome import JobFailedError, Wait
from core.apis import kinds
from tests.support.recorded import component

FAILED = {"type": "Failed", "status": "True", "message": "Job has reached the specified backoff limit"}


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (None, None),
        ({}, None),
        ({"conditions": [{"type": "Succeeded", "status": "True"}]}, None),
        ({"conditions": [{**FAILED, "status": "False"}]}, None),
        ({"conditions": [FAILED]}, FAILED["message"]),
        ({"conditions": [{"type": "Failed", "status": "True"}]}, "Failed"),
    ],
)
def test_failure_is_the_condition_that_is_true(status: Mapping[str, Any] | None, message: str | None) -> None:
    """Only a Failed condition that is True fails the update."""
    assert outcome.failure(status) == message


def test_gate_raises_with_the_log_and_the_remedy() -> None:
    """A failed job raises with its log and the remedy."""

    def build() -> pulumi.Output[str]:
        return outcome.gate(
            "adas",
            "mofed-test-job",
            pulumi.Output.from_input({"conditions": [FAILED]}),
            lambda *_: "Couldn't allocate MR",
        )

    with pytest.raises(JobFailedError) as caught:
        component(build)
    assert "job adas/mofed-test-job failed: Job has reached the specified backoff limit" in str(caught.value)
    assert "Couldn't allocate MR" in str(caught.value)
    assert "raise the workload's `run` number" in str(caught.value)


def test_finished_waits_for_either_end() -> None:
    """`finished` waits for success or failure."""
    assert outcome.job_annotations(kinds.MPI_JOB_V1ALPHA2, Wait.FINISHED, timeout=60) == {
        "pulumi.com/timeoutSeconds": "60",
        "pulumi.com/waitFor": (
            'jsonpath={.status.conditions[?((@.type=="Succeeded" || @.type=="Failed") && @.status=="True")].type}'
        ),
    }


def test_started_also_accepts_running() -> None:
    """`started` accepts a running job."""
    assert (
        '@.type=="Running"'
        in outcome.job_annotations(kinds.MPI_JOB_V1ALPHA2, Wait.STARTED, timeout=60)["pulumi.com/waitFor"]
    )


def test_created_waits_for_nothing() -> None:
    """`created` has no wait."""
    assert outcome.job_annotations(kinds.JOB, Wait.CREATED, timeout=60) == {}
