"""Whether a job came to its end, and its logs with it."""

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, closing_proofs
from toolkit.evidence.expectations import excused_tools
from toolkit.evidence.model import Reading, Unknown
from toolkit.evidence.node_facts import NODE_FACTS
from toolkit.evidence.verdict import Ended, Job, Status
from toolkit.evidence.wording import listed

_ENDS = {Ended.SUCCEEDED: Status.PASS, Ended.FAILED: Status.FAIL}


def recognised(job: Job) -> list[Reading]:
    """Return the readings in which a tool, or NCCL, was recognised."""
    return [reading for reading in job.readings if not isinstance(reading, Unknown) or reading.nccl is not None]


def _ended(job: Job) -> Outcome | None:
    if job.ended is Ended.UNKNOWN:
        return None
    measured = f"{job.ended}: {job.why}" if job.why else str(job.ended)
    return Outcome(_ENDS.get(job.ended, Status.MISSING), measured)


def _complete(job: Job) -> Outcome | None:
    readings = recognised(job)
    if not readings:
        why = sorted({f"{reading.file}: {reading.incomplete}" for reading in job.readings})
        absent = f"no log: {job.why}" if job.why else "no log"
        return Outcome(Status.MISSING, listed(why) if why else absent)
    if all(reading.tool == NODE_FACTS for reading in readings):
        return None
    if job.ended is Ended.UNKNOWN and all(isinstance(reading, Unknown) for reading in readings):
        # Whether an unknown program came to its end could not be determined.
        return Outcome(Status.MISSING, "messages of NCCL alone", proofs=closing_proofs(readings))
    without = excused_tools(job)
    cut = [reading for reading in readings if not reading.complete and reading.tool not in without]
    if not cut:
        unread = sum(reading.unread_total for reading in readings)
        others = f", {plural(unread, 'line')} not read" if unread else ""
        return Outcome(Status.PASS, f"{len(readings)} complete{others}")
    return Outcome(
        Status.MISSING,
        listed((f"{reading.tool}: {reading.incomplete or 'incomplete'}" for reading in cut), 4),
        proofs=closing_proofs(cut),
    )


CRITERIA = (
    Criterion(
        name="job-ended",
        title="The job succeeded",
        limit="succeeded",
        tolerance="a job that is running, pending or absent is missing evidence, not a failure",
        applies="jobs on a cluster",
        source="R-4.1-2, R-4.3-1, R-4.4-1",
        judge=_ended,
    ),
    Criterion(
        name="complete-logs",
        title="The logs are complete",
        limit="every output complete",
        unit="outputs",
        tolerance="a truncated output is missing evidence; it fails if the log shows what ended it",
        applies="all jobs, but not the nodes read from the API server",
        source="R-4.4-8 (footer), S-7.4, S-7.7",
        judge=_complete,
    ),
)
