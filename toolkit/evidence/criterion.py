"""What a criterion is: of one job, or between jobs."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from toolkit.evidence.model import NcclLog, Reading, Unread
from toolkit.evidence.verdict import Job, Proof, Request, Shape, Status, Verdict

NCCL = "nccl"
"""In `needs`: messages of NCCL_DEBUG=INFO, of whichever program."""

Kind = TypeVar("Kind", bound=Reading)


class Row(Protocol):
    """What was read from a line of a file."""

    @property
    def line(self) -> int | None:
        """Return its number; None: it is not known."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a criterion for a job."""

    status: Status
    measured: str
    limit: str = ""
    """For this job, where the limit depends on it; else the criterion's."""
    proofs: tuple[Proof, ...] = ()
    short: bool = False
    """Whether the only fault is that something is absent, which in a log that was cut is not a failure."""


@dataclass(frozen=True, kw_only=True)
class Described:
    """What criteria of one job and between jobs have in common."""

    name: str
    """In kebab case; docs/reference/criteria.md lists it."""
    title: str
    limit: str
    """What is required, for a reader."""
    unit: str = ""
    """Of what is measured; empty: none."""
    tolerance: str = ""
    """What is forgiven, and by whose rule; empty: nothing."""
    applies: str
    """To which jobs, for a reader."""
    source: str
    """Ids of docs/coverage/sources.md, and public records."""


@dataclass(frozen=True, kw_only=True)
class Criterion(Described):
    """Judges one job. Where no document gives a number for its profile, fabric and shape it does not apply."""

    needs: tuple[str, ...] = ()
    """Names of tools, any of which is enough, or NCCL; empty: none, or beside a parser the parser's tool."""
    judge: Callable[[Job], Outcome | None]
    """Returns what the readings show; None: the criterion does not apply to them."""
    when: Callable[[Request], bool] = lambda _: True
    """Whether the criterion applies to such a request."""
    missed: bool = True
    """Whether a job lacks evidence that shows nothing of what is needed; no: others of the same needs report it."""


@dataclass(frozen=True, kw_only=True)
class Comparison(Described):
    """Judges jobs against each other."""

    compare: Callable[[Sequence[Job]], Iterable[tuple[str, Outcome]]]
    """Yields the names of the compared jobs, with the outcome."""

    def verdicts(self, jobs: Sequence[Job]) -> Iterator[Verdict]:
        """Yield a verdict for each comparison that the jobs allow."""
        for names, outcome in self.compare(jobs):
            judged = verdict_of(self, names, outcome)
            if judged is not None:
                yield judged


def verdict_of(criterion: Described, job: str, outcome: Outcome | None) -> Verdict | None:
    """Return the verdict of an outcome."""
    if outcome is None:
        return None
    return Verdict(
        criterion=criterion.name,
        job=job,
        status=outcome.status,
        measured=outcome.measured,
        limit=outcome.limit or criterion.limit,
        source=criterion.source,
        proofs=outcome.proofs,
    )


def readings_of(job: Job, kind: type[Kind]) -> list[Kind]:
    """Return the readings of one kind."""
    return [reading for reading in job.readings if isinstance(reading, kind)]


def nccl_logs(job: Job) -> list[tuple[str, NcclLog]]:
    """Return the messages of NCCL, with the file that they are in, and channels placed by the layout of the job."""
    return [
        (reading.file, placed(reading.nccl, job.request.shape)) for reading in job.readings if reading.nccl is not None
    ]


def placed(log: NcclLog, shape: Shape | None) -> NcclLog:
    """Return a log without the channels between nodes that a layout shows to be within a pod."""
    within = [ends for ends in log.one_end if shape is not None and ends.rank // shape.gpus == ends.other // shape.gpus]
    if not within:
        return log
    between = Counter(log.between_nodes)
    for ends in within:
        between[ends.transport] -= ends.channels
    direct = log.gpudirect_between_nodes - sum(ends.gpudirect for ends in within)
    return log.model_copy(update={"between_nodes": dict(+between), "gpudirect_between_nodes": direct})


def proofs_at(file: str, *lines: int | None) -> tuple[Proof, ...]:
    """Return lines of a file as proofs without their text, which is read when it is shown."""
    return tuple(Proof(file=file, line=line, text="") for line in lines if line)


def row_proofs(rows: Iterable[tuple[str, Row]]) -> tuple[Proof, ...]:
    """Return the lines that rows were read from, each with its file, as proofs."""
    return tuple(proof for file, row in rows for proof in proofs_at(file, row.line))


def line_proofs(lines: Iterable[tuple[str, Unread | None]]) -> tuple[Proof, ...]:
    """Return lines that readings store, each with its file, as proofs."""
    return tuple(proof for file, line in lines for proof in quoted_proofs(file, line))


def opening_proofs(readings: Iterable[Reading]) -> tuple[Proof, ...]:
    """Return the first line of each reading."""
    return tuple(proof for reading in readings for proof in proofs_at(reading.file, reading.first_line))


def closing_proofs(readings: Iterable[Reading]) -> tuple[Proof, ...]:
    """Return the last line of each reading."""
    return tuple(proof for reading in readings for proof in proofs_at(reading.file, reading.last_line))


def quoted_proofs(file: str, *lines: Unread | None) -> tuple[Proof, ...]:
    """Return lines that a reading stores, as proofs."""
    return tuple(Proof(file=file, line=line.line, text=line.text) for line in lines if line is not None)


def passed(met: bool) -> Status:
    """Return PASS or FAIL."""
    return Status.PASS if met else Status.FAIL
