"""Evaluates a criterion for a job: whether it applies, whether the logs have what it needs, and what they show."""

from dataclasses import replace

from toolkit.evidence.criterion import NCCL, Criterion, Outcome, verdict_of
from toolkit.evidence.expectations import excused_tools, expected_tools
from toolkit.evidence.model import Reading
from toolkit.evidence.verdict import Ended, Job, Status, Verdict


def evaluate(criterion: Criterion, job: Job) -> Verdict | None:
    """Return the verdict, None where the criterion does not apply.

    MISSING where the job was to print what is needed, and its logs lack it, or a part of it.
    """
    needs = frozenset(criterion.needs)
    if not criterion.when(job.request) or (needs and needs <= excused_tools(job)):
        return None
    needed = [reading for reading in job.readings if _is_needed(reading, needs)]
    outcome = criterion.judge(job) if needed or not needs else _absent(criterion, job)
    if outcome is not None and outcome.short and outcome.status is not Status.PASS and _cut(job, needed):
        outcome = replace(outcome, status=Status.MISSING)
    return verdict_of(criterion, job.request.job, outcome)


def _is_needed(reading: Reading, needs: frozenset[str]) -> bool:
    return reading.tool in needs or (NCCL in needs and reading.nccl is not None)


def _cut(job: Job, needed: list[Reading]) -> bool:
    """Return whether more was to come: the job goes on, or an output that is needed is not whole."""
    return job.ended in (Ended.RUNNING, Ended.WAITING) or any(not reading.complete for reading in needed)


def _absent(criterion: Criterion, job: Job) -> Outcome | None:
    if not criterion.missed or not expected_tools(job.request) & {*criterion.needs}:
        return None
    names = ("NCCL (NCCL_DEBUG=INFO)" if name == NCCL else name for name in criterion.needs)
    return Outcome(Status.MISSING, f"no output of {' or '.join(names)}")
