"""Whether a job came to its end, its logs with it, and which lines report a failure, whatever else the logs show."""

import re
from collections.abc import Iterator

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, closing_proofs, line_proofs
from toolkit.evidence.failures import failure_facts, is_failure, is_pytorch_warning, is_unreached
from toolkit.evidence.goodput.reading import GOODPUT
from toolkit.evidence.model import NODE_FACTS, Reading, Unknown, Unread
from toolkit.evidence.tools import excused_tools
from toolkit.evidence.tools.perftest import Perftest
from toolkit.evidence.tools.torch_distributed.model import TorchDistributed
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
    # The account of a training's time is judged by its own criterion.
    cut = [
        reading for reading in readings if not (reading.complete or reading.tool in without or reading.tool == GOODPUT)
    ]
    if not cut:
        unread = sum(reading.unread_total for reading in readings)
        others = f", {plural(unread, 'line')} not read" if unread else ""
        return Outcome(Status.PASS, f"{len(readings)} complete{others}")
    measured = listed((f"{reading.tool}: {reading.incomplete or 'incomplete'}" for reading in cut), 4)
    return Outcome(Status.MISSING, measured, proofs=closing_proofs(cut))


_WARNED = re.compile(
    # NCCL: work that came to no end, and not what it does without
    r"\b[Gg]ot (?:completion|async event)\b|error (?:4|5|9|10|11|12|13)\b|\b(?:CUDA|Cuda) failure\b"
    r"|unhandled (?:cuda|system)|failed with error|ibv_\w+ (?:failed|error)|\b[Tt]imed? ?out\b"
    r"|Connection (?:closed|refused|reset)"
)
_KEPT = 5


def _failures(job: Job) -> Iterator[tuple[str, Unread]]:
    """Yield lines that report a failure; those of SSH only where nothing shows that a launcher got there in the end."""
    is_known = bool(recognised(job))
    for reading in job.readings:
        # Those of nccl-tests are the criterion test-ran's.
        kept = reading.failures if isinstance(reading, Perftest | TorchDistributed) else ()
        warnings = reading.nccl.warnings if reading.nccl is not None else ()
        yield from ((reading.file, line) for line in kept)
        for line in reading.unread:
            if is_failure(line.text) or (not is_known and is_unreached(line.text)):
                yield reading.file, line
        yield from ((reading.file, line) for line in warnings if _WARNED.search(line.text))


def _warnings(job: Job) -> Iterator[tuple[str, Unread]]:
    for reading in job.readings:
        yield from ((reading.file, line) for line in reading.unread if is_pytorch_warning(line.text))
        yield from ((reading.file, line) for line in (reading.nccl.warnings if reading.nccl is not None else ()))


def _no_failure(job: Job) -> Outcome | None:
    failures = list(_failures(job))
    if failures:
        # The job succeeded, as the cluster reports: it was perhaps no failure to it.
        status = Status.WARN if job.ended is Ended.SUCCEEDED else Status.FAIL
        reported = failure_facts(_texts(job))
        measured = "; ".join((plural(len(failures), "such line"), *reported))
        return Outcome(status, measured, proofs=line_proofs(_most_specific_first(failures)[:_KEPT]))
    if not recognised(job):
        return None
    if warnings := list(_warnings(job)):
        measured = f"{plural(len(warnings), 'warning')} of NCCL or PyTorch"
        return Outcome(Status.WARN, measured, proofs=line_proofs(warnings[:_KEPT]))
    return Outcome(Status.PASS, "none")


def _texts(job: Job) -> Iterator[str]:
    for reading in job.readings:
        yield from (line.text for line in reading.unread)
        yield from (line.text for line in (reading.nccl.warnings if reading.nccl is not None else ()))


def _most_specific_first(failures: list[tuple[str, Unread]]) -> list[tuple[str, Unread]]:
    """Return lines of a failure, those first that name a rank, a peer or a port."""
    return sorted(failures, key=lambda failure: not failure_facts([failure[1].text]))


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
    Criterion(
        name="no-failure-lines",
        title="No line reports a failure",
        limit="no failure reported by mpirun, the program, NCCL or the driver",
        unit="lines",
        tolerance="a warning where the cluster reports success, and for other NCCL and PyTorch warnings",
        applies="all jobs with logs: of unknown programs those that report a failure",
        source="R-4.1-2, R-4.3-1, R-4.4-8, S-7.4",
        judge=_no_failure,
    ),
)
