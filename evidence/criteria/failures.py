"""Lines by which a program, mpirun or the kernel says that it failed, whatever else the log shows."""

import re
from collections.abc import Iterator

from evidence.criteria.criterion import Criterion, Found, at, of, passed, quoted
from evidence.criteria.logs import known
from evidence.model import Unread
from evidence.tools.perftest import Perftest
from evidence.tools.tf_cnn_benchmarks import TfCnnBenchmarks
from evidence.verdict import Ended, Job, Status

_FAILED = re.compile(
    # Open MPI and its daemons (orterun's and prterun's help texts)
    r"exited on signal \d|process(?:es)? returned\b|non-zero (?:exit code|status)|the job (?:has been|to be) aborted"
    r"|MPI_A(?:BORT|bort) (?:was invoked|\()|exited improperly|(?:ORTE|PRTE|PRRTE?|ORTE daemon) has lost communication"
    r"|An ORTE daemon has unexpectedly failed|srun: error: |slurmstepd: error: |not enough slots available"
    # Python, frameworks, C and the shell
    r"|^Traceback \(most recent call last\)|^\s*[\w.]*[a-z]Error: \S|Segmentation fault|Bus error\b"
    r"|core dumped|\bSIG(?:SEGV|BUS|ABRT)\b"
    r"|terminate called after|^Killed$|\bOOMKilled\b|CUDA error: |OOM when allocating"
    # nccl-tests, perftest
    r"|Out of bounds values\s*: \d+ FAILED|Test (?:CUDA|NCCL) failure |Completion with error|Failed status \d"
    # The driver: a GPU is lost, its memory or its links are damaged
    r"|\bXid\b.*: (?:31|43|45|48|62|63|64|74|79|92|94|95|119|120|14\d)\b|GPU has fallen off the bus"
)
_WARNED = re.compile(
    # NCCL: work that came to no end, and not what it does without
    r"\b[Gg]ot (?:completion|async event)\b|error (?:4|5|9|10|11|12|13)\b|\b(?:CUDA|Cuda) failure\b"
    r"|unhandled (?:cuda|system)|failed with error|ibv_\w+ (?:failed|error)|\b[Tt]imed? ?out\b"
    r"|Connection (?:closed|refused|reset)"
)
_KEPT = 5


def _told(job: Job) -> Iterator[tuple[str, Unread]]:
    """Yield lines that say that something failed."""
    for one in job.readings:
        # Those of nccl-tests are the criterion test-ran's.
        kept = one.failures if isinstance(one, Perftest) else ()
        warnings = one.nccl.warnings if one.nccl is not None else ()
        yield from ((one.file, line) for line in kept)
        yield from ((one.file, line) for line in one.unread if _FAILED.search(line.text))
        yield from ((one.file, line) for line in warnings if _WARNED.search(line.text))


def _warnings(job: Job) -> Iterator[tuple[str, Unread]]:
    for one in job.readings:
        yield from ((one.file, line) for line in (one.nccl.warnings if one.nccl is not None else ()))


def _no_failure(job: Job) -> Found | None:
    if not known(job):
        return None
    told = list(_told(job))
    lines = told or list(_warnings(job))
    proofs = tuple(proof for file, line in lines[:_KEPT] for proof in quoted(file, line))
    if told:
        # What went on and came to its end, as the cluster says, was perhaps no failure to it.
        status = Status.WARN if job.ended is Ended.SUCCEEDED else Status.FAIL
        return Found(status, _count(len(told), "line says so", "lines say so"), proofs=proofs)
    if lines:
        return Found(Status.WARN, _count(len(lines), "warning of NCCL", "warnings of NCCL"), proofs=proofs)
    return Found(Status.PASS, "none")


def _count(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _finite(job: Job) -> Found | None:
    runs = [one for one in of(job, TfCnnBenchmarks) if one.steps]
    lost = [(one.file, step) for one in runs for step in one.steps if step.loss is None]
    count = sum(len(one.steps) for one in runs)
    if not runs:
        return None
    proofs = tuple(proof for file, step in lost[:_KEPT] for proof in at(file, step.line))
    measured = f"nan or inf in {len(lost)} of {count} lines" if lost else f"a figure in each of {count} lines"
    return Found(passed(not lost), measured, proofs=proofs)


CRITERIA = (
    Criterion(
        name="no-failure-lines",
        title="No line says that something failed",
        limit="no line of mpirun, the program, NCCL or the driver that says that it failed",
        unit="lines",
        tolerance="a warning where the cluster says that the job succeeded, and for other warnings of NCCL",
        applies="all jobs with logs",
        source="R-4.1-2, R-4.3-1, R-4.4-8, S-7.4",
        needs=(),
        look=_no_failure,
    ),
    Criterion(
        name="loss-finite",
        title="Training computes figures",
        limit="no loss that is nan or inf",
        unit="lines",
        tolerance="",
        applies="runs of tf_cnn_benchmarks",
        source="R-4.5-9, N-8.3",
        needs=("tf-cnn-benchmarks",),
        look=_finite,
        missed=False,
    ),
)
