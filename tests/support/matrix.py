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
        outcome = field.verified(*jobs)
    assert outcome.status == 0, outcome


def check(field: Field, broken: Sequence[Manifest], row: Fault) -> None:
    """Run a row's job on a broken platform; end, exit status, criterion and cause must be those of the row."""
    job = row.get("job_name", JOB)
    jobs = (LISTENER, job) if job == RDMA_TEST else (job,)
    end = _ENDS[row["job"]]
    with field.running(broken, *jobs, until=DONE | {end}):
        outcome = field.verified(*jobs)
        ended = next(seen for seen in field.seen() if seen.name == job)
    assert (ended.state == end) if end != "hindered" else ended.hindrances, ended
    judged(outcome, row)


def judged(outcome: Outcome, row: Fault) -> None:
    """Hold a verdict against a row."""
    assert row["status"] in (1, 2), "a fault gets through"
    assert outcome.status == row["status"], outcome
    cause = next(str(cause) for cause in CAUSES if cause.name == row["cause"])
    bad = [verdict for verdict in outcome.of(row["criterion"]) if verdict.status in (Status.FAIL, Status.MISSING)]
    assert any(cause in verdict.causes for verdict in bad), outcome
    shown = [text for verdict in bad for text in (verdict.measured, *(proof.text for proof in verdict.proofs))]
    assert any(row["shows"] in text for text in shown), shown
