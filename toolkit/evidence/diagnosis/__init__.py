"""Why a job failed, as far as its logs show it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from toolkit.evidence.diagnosis.cause_table import CAUSES, Cause, contradicted
from toolkit.evidence.diagnosis.measured_causes import SEEN
from toolkit.evidence.model import Reading, Unread
from toolkit.evidence.verdict import Job, Proof

PROOFS_KEPT = 3
"""Lines stored of those that show a cause."""
_FAILURES = ("failed", "failure", "failures")
"""Fields of readings in which a parser stores the messages of a failure."""


@dataclass(frozen=True)
class Diagnosis:
    """A cause with the lines that show it."""

    cause: Cause
    proofs: tuple[Proof, ...]
    places: tuple[tuple[str, int], ...] = ()
    """File and line of all of them: `proofs` are the first."""


@cache
def _any() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{cause.shows})" for cause in CAUSES if cause.shows), re.IGNORECASE)


@cache
def _shows() -> Sequence[tuple[re.Pattern[str], Cause]]:
    """Return the causes by their expressions, compiled once a line shows any: half of the time of importing this."""
    return [(re.compile(cause.shows, re.IGNORECASE), cause) for cause in CAUSES if cause.shows]


def diagnose(job: Job) -> tuple[Diagnosis, ...]:
    """Return the causes that the job's logs show, by a line or by their figures, in the order of the table.

    A line shows the first cause of the table that nothing else in the logs contradicts.
    """
    proofs_by_cause: dict[str, list[Proof]] = {}
    possible: list[tuple[re.Pattern[str], Cause]] | None = None
    for proof in _lines(job):
        if _any().search(proof.text):
            if possible is None:
                possible = [(shows, cause) for shows, cause in _shows() if not contradicted(cause.contradicted_by, job)]
            cause = next((cause for shows, cause in possible if shows.search(proof.text)), None)
            if cause is not None:
                proofs_by_cause.setdefault(cause.name, []).append(proof)
    for name, find_proofs in SEEN.items():
        if proofs := list(find_proofs(job)):
            proofs_by_cause.setdefault(name, []).extend(proofs)
    return tuple(_of(cause, proofs_by_cause[cause.name]) for cause in CAUSES if cause.name in proofs_by_cause)


def _of(cause: Cause, proofs: Sequence[Proof]) -> Diagnosis:
    return Diagnosis(cause, _firsts(proofs), tuple((proof.file, proof.line) for proof in proofs))


def _firsts(proofs: Sequence[Proof]) -> tuple[Proof, ...]:
    """Return the first lines, each once: a reading may have one as a warning and as the first of its kind."""
    return tuple({(proof.file, proof.line): proof for proof in proofs}.values())[:PROOFS_KEPT]


def reasons(why: str | None) -> tuple[Cause, ...]:
    """Return the causes that a cluster's message shows."""
    return tuple(cause for shows, cause in _shows() if shows.search(why)) if why else ()


def explaining(diagnoses: Sequence[Diagnosis], criterion: str, *, ended_early: bool = False) -> Iterator[Diagnosis]:
    """Yield what explains the failure of a criterion; `ended_early`: the criterion is that there is an end."""
    matching = [
        diagnosis
        for diagnosis in diagnoses
        if criterion in diagnosis.cause.explains or (ended_early and diagnosis.cause.ends)
    ]
    specific = [diagnosis for diagnosis in matching if not diagnosis.cause.last_resort]
    yield from specific or matching


def ended(job: Job, diagnoses: Sequence[Diagnosis]) -> tuple[Diagnosis, ...]:
    """Return the causes that ended what was cut: figures that came after them show that the program went on.

    Ranks that wait for one that ended may each print a line more.
    """
    last_row: dict[str, int] = {}
    for reading in job.readings:
        if not reading.complete:
            last_row[reading.file] = max(last_row.get(reading.file, 0), _last_row(reading))
    ranks = job.request.shape.total if job.request.shape else 0
    return tuple(
        diagnosis
        for diagnosis in diagnoses
        if diagnosis.cause.ends and any(line > last_row.get(file, 0) - ranks for file, line in diagnosis.places)
    )


def _last_row(reading: Reading) -> int:
    values = (getattr(reading, name) for name in type(reading).model_fields)
    rows = (row for value in values if isinstance(value, tuple) for row in value if not isinstance(row, Unread))
    return max((line for row in rows if isinstance(line := getattr(row, "line", None), int)), default=0)


def _lines(job: Job) -> Iterator[Proof]:
    """Yield the lines that no parser understood, those in which a tool reports a failure, and NCCL's warnings."""
    for reading in job.readings:
        for line in (*reading.unread, *_failures(reading)):
            yield Proof(file=reading.file, line=line.line, text=line.text)


def _failures(reading: Reading) -> Iterator[Unread]:
    for name in _FAILURES:
        value = getattr(reading, name, None)
        for entry in value if isinstance(value, tuple) else (value,):
            if isinstance(entry, Unread):
                yield entry
            elif isinstance(entry, str):
                yield Unread(line=reading.first_line, text=entry)
    if (log := reading.nccl) is not None:
        yield from (*log.warnings, *log.gdr_unavailable, *log.proofs.values())
