"""What a criterion is: of one job, or between jobs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from evidence.criteria.expected import excused, expected
from evidence.model import NcclLog, Reading, Unread
from evidence.verdict import Asked, Ended, Job, Proof, Status, Verdict

NCCL = "nccl"
"""In `needs`: messages of NCCL_DEBUG=INFO, of whichever program."""

Kind = TypeVar("Kind", bound=Reading)


@dataclass(frozen=True)
class Found:
    """What a criterion found in the readings of a job."""

    status: Status
    measured: str
    limit: str = ""
    """For this job, where the limit depends on it; else the criterion's own words."""
    proofs: tuple[Proof, ...] = ()
    short: bool = False
    """Whether nothing is wrong but that something is not there, which in a log that was cut is no failure."""


@dataclass(frozen=True)
class _Described:
    name: str
    """In kebab case; docs/criteria.md lists it."""
    title: str
    limit: str
    """What is asked, in words."""
    unit: str
    """Of what is measured; empty: none."""
    tolerance: str
    """What is forgiven, and by whose rule; empty: nothing."""
    applies: str
    """To which jobs, in words."""
    source: str
    """Inventory ids, and public records."""


@dataclass(frozen=True)
class Criterion(_Described):
    """Judges one job. Where no document gives a number for its profile, fabric and shape it does not apply."""

    needs: tuple[str, ...]
    """Names of tools, any of which is enough, or NCCL; empty: it needs none."""
    look: Callable[[Job], Found | None]
    """Says what the readings hold; None: the criterion does not apply to them."""
    when: Callable[[Asked], bool] = lambda _: True
    """Whether the criterion applies to what was asked."""

    missed: bool = True
    """Whether a job lacks evidence that shows nothing of what is needed; no: others of the same needs say so."""

    def verdict(self, job: Job) -> Verdict | None:
        """Return the verdict, None where the criterion does not apply.

        MISSING where the job was to print what is needed, and its logs do not hold it, or do not hold all of it.
        """
        if not self.when(job.asked) or (self.needs and {*self.needs} <= excused(job)):
            return None
        found = self.look(job) if self._has(job) else self._absent(job)
        if found is not None and found.short and found.status is not Status.PASS and self._cut(job):
            found = replace(found, status=Status.MISSING)
        return verdict(self, job.asked.job, found)

    def _has(self, job: Job) -> bool:
        return not self.needs or any(map(self._rests_on, job.readings))

    def _rests_on(self, one: Reading) -> bool:
        return one.tool in self.needs or (NCCL in self.needs and one.nccl is not None)

    def _cut(self, job: Job) -> bool:
        """Whether more was to come: the job goes on, or an output that is needed is not whole."""
        return job.ended in (Ended.RUNNING, Ended.WAITING) or any(
            self._rests_on(one) and not one.complete for one in job.readings
        )

    def _absent(self, job: Job) -> Found | None:
        if not self.missed or not expected(job.asked) & {*self.needs}:
            return None
        return Found(Status.MISSING, f"no output of {' or '.join(_called(name) for name in self.needs)}")


@dataclass(frozen=True)
class Comparison(_Described):
    """Judges jobs against each other."""

    look: Callable[[Sequence[Job]], Iterable[tuple[str, Found]]]
    """Yields what was compared, by the names of the jobs, with what was found."""

    def verdicts(self, jobs: Sequence[Job]) -> Iterator[Verdict]:
        """Yield a verdict for each comparison that the jobs allow."""
        for names, found in self.look(jobs):
            judged = verdict(self, names, found)
            if judged is not None:
                yield judged


def verdict(by: _Described, job: str, found: Found | None) -> Verdict | None:
    """Return what was found as a verdict."""
    if found is None:
        return None
    return Verdict(
        criterion=by.name,
        job=job,
        status=found.status,
        measured=found.measured,
        limit=found.limit or by.limit,
        source=by.source,
        proofs=found.proofs,
    )


def of(job: Job, kind: type[Kind]) -> list[Kind]:
    """Return the readings of one kind."""
    return [one for one in job.readings if isinstance(one, kind)]


def nccl_logs(job: Job) -> list[tuple[str, NcclLog]]:
    """Return what NCCL said, with the file that it is in."""
    return [(one.file, one.nccl) for one in job.readings if one.nccl is not None]


def at(file: str, *lines: int | None) -> tuple[Proof, ...]:
    """Return lines of a file as proofs without their text, which is read when it is shown."""
    return tuple(Proof(file=file, line=line, text="") for line in lines if line)


def begins(some: Iterable[Reading]) -> tuple[Proof, ...]:
    """Return the first line of each reading."""
    return tuple(proof for one in some for proof in at(one.file, one.first_line))


def ends(some: Iterable[Reading]) -> tuple[Proof, ...]:
    """Return the last line of each reading."""
    return tuple(proof for one in some for proof in at(one.file, one.last_line))


def quoted(file: str, *lines: Unread | None) -> tuple[Proof, ...]:
    """Return lines that a reading kept as proofs."""
    return tuple(Proof(file=file, line=one.line, text=one.text) for one in lines if one is not None)


def passed(good: bool) -> Status:
    """Return PASS or FAIL."""
    return Status.PASS if good else Status.FAIL


def listed(names: Iterable[str], most: int = 8) -> str:
    """Write names with commas; of many the first."""
    all_names = list(names)
    more = len(all_names) - most
    return ", ".join([*all_names[:most], *([f"and {more} more"] if more > 0 else [])])


def _called(name: str) -> str:
    return "NCCL (NCCL_DEBUG=INFO)" if name == NCCL else name
