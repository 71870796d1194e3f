"""Lines in which a program, mpirun or the kernel reports a failure, whatever else the log shows."""

import re
from collections.abc import Iterator

from apis.wording import plural
from evidence.criteria.logs import recognised
from evidence.criterion import Criterion, Found, texts_of
from evidence.model import Unread
from evidence.tools.perftest import Perftest
from evidence.tools.torch_distributed.model import TorchDistributed
from evidence.verdict import Ended, Job, Status

_RANK = r"^(?:\[(?:rank|default)?\d+\]: ?){0,2}"
"""What PyTorch and torchrun put before the lines of a process."""
_GLOG = r"(?:\d{4} \d\d:\d\d:\d\d\.\d+)? (?:\d+ )?[\w./-]+\.(?:cpp|cc|h|cu|py):\d+\] "
"""How a message in the form of glog goes on behind its level."""
_FAILED = re.compile(
    # Open MPI and its daemons (orterun's and prterun's help texts)
    r"exited on signal \d|process(?:es)? returned\b|non-zero (?:exit code|status)|the job (?:has been|to be) aborted"
    r"|MPI_A(?:BORT|bort) (?:was invoked|\()|exited improperly|(?:ORTE|PRTE|PRRTE?|ORTE daemon) has lost communication"
    r"|An ORTE daemon has unexpectedly failed|srun: error: |slurmstepd: error: |not enough slots available"
    # Python, frameworks, C and the shell
    rf"|{_RANK}Traceback \(most recent call last\)|{_RANK}\s*[\w.]*[a-z]Error: \S|Segmentation fault|Bus error\b"
    r"|core dumped|\bSIG(?:SEGV|BUS|ABRT)\b"
    r"|terminate called after|^Killed$|\bOOMKilled\b|CUDA error: |OOM when allocating"
    # PyTorch: its watchdog over NCCL (ProcessGroupNCCL.cpp), and torchrun (elastic/agent, multiprocessing/errors)
    rf"|{_RANK}\[?[EF]{_GLOG}|Watchdog caught collective operation timeout|ChildFailedError"
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
_PYTORCH_WARNED = re.compile(rf"{_RANK}\[?W{_GLOG}")
"""A warning of PyTorch's own, in the form of glog: of its process groups, sockets, allocator and torchrun."""
_KEPT = 5


def _failures(job: Job) -> Iterator[tuple[str, Unread]]:
    """Yield lines that report a failure."""
    for one in job.readings:
        # Those of nccl-tests are the criterion test-ran's.
        kept = one.failures if isinstance(one, Perftest | TorchDistributed) else ()
        warnings = one.nccl.warnings if one.nccl is not None else ()
        yield from ((one.file, line) for line in kept)
        yield from ((one.file, line) for line in one.unread if _FAILED.search(line.text))
        yield from ((one.file, line) for line in warnings if _WARNED.search(line.text))


def _warnings(job: Job) -> Iterator[tuple[str, Unread]]:
    """Yield warnings of NCCL and of PyTorch."""
    for one in job.readings:
        yield from ((one.file, line) for line in one.unread if _PYTORCH_WARNED.search(line.text))
        yield from ((one.file, line) for line in (one.nccl.warnings if one.nccl is not None else ()))


def _no_failure(job: Job) -> Found | None:
    if not recognised(job):
        return None
    failures = list(_failures(job))
    lines = failures or list(_warnings(job))
    proofs = texts_of(lines[:_KEPT])
    if failures:
        # The job succeeded, as the cluster reports: it was perhaps no failure to it.
        status = Status.WARN if job.ended is Ended.SUCCEEDED else Status.FAIL
        return Found(status, plural(len(failures), "such line"), proofs=proofs)
    if lines:
        return Found(Status.WARN, f"{plural(len(lines), 'warning')} of NCCL or PyTorch", proofs=proofs)
    return Found(Status.PASS, "none")


CRITERIA = (
    Criterion(
        name="no-failure-lines",
        title="No line reports a failure",
        limit="no failure reported by mpirun, the program, NCCL or the driver",
        unit="lines",
        tolerance="a warning where the cluster reports success, and for other NCCL and PyTorch warnings",
        applies="all jobs with logs",
        source="R-4.1-2, R-4.3-1, R-4.4-8, S-7.4",
        look=_no_failure,
    ),
)
