"""Whether a job came to its end, and its logs with it."""

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Found, ends
from toolkit.evidence.expectations import excused
from toolkit.evidence.model import Reading, Unknown
from toolkit.evidence.node_facts import NODE_FACTS
from toolkit.evidence.verdict import Ended, Job, Status
from toolkit.evidence.wording import listed

_ENDS = {Ended.SUCCEEDED: Status.PASS, Ended.FAILED: Status.FAIL}


def recognised(job: Job) -> list[Reading]:
    """Return the readings in which a tool, or NCCL, was recognised."""
    return [one for one in job.readings if not isinstance(one, Unknown) or one.nccl is not None]


def _ended(job: Job) -> Found | None:
    if job.ended is Ended.UNKNOWN:
        return None
    measured = f"{job.ended}: {job.why}" if job.why else str(job.ended)
    return Found(_ENDS.get(job.ended, Status.MISSING), measured)


def _complete(job: Job) -> Found | None:
    found = recognised(job)
    if not found:
        why = sorted({f"{one.file}: {one.incomplete}" for one in job.readings})
        absent = f"no log: {job.why}" if job.why else "no log"
        return Found(Status.MISSING, listed(why) if why else absent)
    if all(one.tool == NODE_FACTS for one in found):
        return None
    if job.ended is Ended.UNKNOWN and all(isinstance(one, Unknown) for one in found):
        # Whether an unknown program came to its end could not be determined.
        return Found(Status.MISSING, "messages of NCCL alone", proofs=ends(found))
    without = excused(job)
    cut = [one for one in found if not one.complete and one.tool not in without]
    if not cut:
        unread = sum(one.unread_total for one in found)
        others = f", {plural(unread, 'line')} not read" if unread else ""
        return Found(Status.PASS, f"{len(found)} complete{others}")
    return Found(
        Status.MISSING,
        listed((f"{one.tool}: {one.incomplete or 'incomplete'}" for one in cut), 4),
        proofs=ends(cut),
    )


CRITERIA = (
    Criterion(
        name="job-ended",
        title="The job succeeded",
        limit="succeeded",
        tolerance="a job that is running, pending or absent is missing evidence, not a failure",
        applies="jobs on a cluster",
        source="R-4.1-2, R-4.3-1, R-4.4-1",
        look=_ended,
    ),
    Criterion(
        name="complete-logs",
        title="The logs are complete",
        limit="every output complete",
        unit="outputs",
        tolerance="a truncated output is missing evidence; it fails if the log shows what ended it",
        applies="all jobs, but not the nodes read from the API server",
        source="R-4.4-8 (footer), S-7.4, S-7.7",
        look=_complete,
    ),
)
