"""What a row of docs/reference/faults.yaml says, held against what a broken platform does."""

from collections.abc import Sequence

from tests.support.field import DONE, Field, Manifest, Outcome
from toolkit.evidence.diagnosis.cause_table import CAUSES
from toolkit.evidence.verdict import Status
from toolkit.render.reference.faults import JOB, Fault

__all__ = ["JOB", "LISTENER", "RDMA_TEST", "check", "healthy", "judged"]
RDMA_TEST, LISTENER = "mofed-test-job", "mofed-test-job-listener"
_ENDS = {"succeeded": "Succeeded", "failed": "Failed", "waiting": "hindered"}


def healthy(field: Field, *jobs: str) -> None:
    """Run jobs on the platform as it is; they must pass."""
    with field.running(field.healthy, *jobs):
        found = field.verified(*jobs)
    assert found.status == 0, found


def check(field: Field, broken: Sequence[Manifest], row: Fault) -> None:
    """Run a row's job on a broken platform; end, exit status, criterion and cause must be those of the row."""
    job = row.get("job_name", JOB)
    jobs = (LISTENER, job) if job == RDMA_TEST else (job,)
    wanted = _ENDS[row["job"]]
    with field.running(broken, *jobs, until=DONE | {wanted}):
        found = field.verified(*jobs)
        ended = next(one for one in field.seen() if one.name == job)
    assert (ended.state == wanted) if wanted != "hindered" else ended.hindrances, ended
    judged(found, row)


def judged(found: Outcome, row: Fault) -> None:
    """Hold a verdict against a row."""
    assert row["status"] in (1, 2), "a fault gets through"
    assert found.status == row["status"], found
    cause = next(str(cause) for cause in CAUSES if cause.name == row["cause"])
    bad = [one for one in found.of(row["criterion"]) if one.status in (Status.FAIL, Status.MISSING)]
    assert any(cause in one.causes for one in bad), found
    shown = [text for one in bad for text in (one.measured, *(proof.text for proof in one.proofs))]
    assert any(row["shows"] in text for text in shown), shown
