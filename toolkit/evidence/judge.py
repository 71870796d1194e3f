"""Judges jobs: every criterion that applies, the lines behind it and, where it failed, the causes that they show."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from toolkit.evidence.criteria import COMPARISONS, CRITERIA
from toolkit.evidence.criteria.logs import recognised
from toolkit.evidence.criterion import NCCL, Criterion, Outcome, verdict_of
from toolkit.evidence.diagnosis import Diagnosis, diagnose, ended, explaining, reasons
from toolkit.evidence.model import Reading
from toolkit.evidence.secrets import masked
from toolkit.evidence.text import clean, opened, raw_lines
from toolkit.evidence.tools import excused_tools, expected_tools
from toolkit.evidence.verdict import Ended, Job, Proof, Status, Verdict


def evaluate(criterion: Criterion, job: Job) -> Verdict | None:
    """Return the verdict, None where the criterion does not apply.

    MISSING where the job was to print what is needed, and its logs lack it, or a part of it.
    """
    needs = frozenset(criterion.needs)
    if not criterion.when(job.request) or (needs and needs <= excused_tools(job)):
        return None
    needed = [reading for reading in job.readings if _is_needed(reading, needs)]
    outcome = criterion.judge(job) if needed or not needs else _absent(criterion, job)
    if outcome is not None and outcome.short and outcome.status is not Status.PASS and _is_cut(job, needed):
        outcome = replace(outcome, status=Status.MISSING)
    return verdict_of(criterion, job.request.job, outcome)


def _is_needed(reading: Reading, needs: frozenset[str]) -> bool:
    return reading.tool in needs or (NCCL in needs and reading.nccl is not None)


def _is_cut(job: Job, needed: list[Reading]) -> bool:
    """Return whether more was to come: the job goes on, or an output that is needed is not whole."""
    return job.ended in (Ended.RUNNING, Ended.WAITING) or any(not reading.complete for reading in needed)


def _absent(criterion: Criterion, job: Job) -> Outcome | None:
    if not criterion.missed or not expected_tools(job.request) & {*criterion.needs}:
        return None
    names = ("NCCL (NCCL_DEBUG=INFO)" if name == NCCL else name for name in criterion.needs)
    return Outcome(Status.MISSING, f"no output of {' or '.join(names)}")


PASSED, FAILED, NOT_ENOUGH = 0, 1, 2
"""Exit statuses."""
_ALWAYS = frozenset({"job-ended", "complete-logs", "no-failure-lines"})
"""Criteria of a job without logs, or with those of unknown programs, too."""
_ENDS = _ALWAYS | {"test-ran"}
"""Criteria that fail by what ended the program."""
_EXPLAINED = frozenset({Status.FAIL, Status.MISSING, Status.WARN})


def judge(jobs: Sequence[Job]) -> tuple[Verdict, ...]:
    """Return the verdicts on each job, in its order, then those between jobs."""
    of_jobs = [verdict for job in jobs for verdict in _of(job)]
    of_comparisons = [verdict for comparison in COMPARISONS for verdict in comparison.verdicts(jobs)]
    return with_texts([*of_jobs, *of_comparisons])


def exit_status(verdicts: Iterable[Verdict]) -> int:
    """Return 1 when something failed, 2 when evidence is missing or nothing was judged, else 0."""
    statuses = {verdict.status for verdict in verdicts}
    if Status.FAIL in statuses:
        return FAILED
    return PASSED if Status.PASS in statuses and Status.MISSING not in statuses else NOT_ENOUGH


def with_texts(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Return verdicts with the text of the lines behind them, which readings do not contain; a file is read once."""
    line_numbers: dict[str, set[int]] = defaultdict(set)
    for verdict in verdicts:
        for proof in verdict.proofs:
            if not proof.text:
                line_numbers[proof.file].add(proof.line)
    texts = {file: proofs(file, lines) for file, lines in line_numbers.items()}

    def with_text(proof: Proof) -> Proof:
        return proof if proof.text else texts[proof.file].get(proof.line, proof)

    return tuple(
        verdict.model_copy(update={"proofs": tuple(with_text(proof) for proof in verdict.proofs)})
        for verdict in verdicts
    )


def proofs(file: str, lines: Iterable[int]) -> Mapping[int, Proof]:
    """Return lines of a file by their numbers, with their texts; none of a pipe, which cannot be read again."""
    numbers = set(lines)
    by_number: dict[int, Proof] = {}
    if not numbers or not Path(file).is_file():
        return by_number
    last = max(numbers)
    try:
        with opened(Path(file)) as log:
            for number, raw in enumerate(raw_lines(log), 1):
                if number in numbers:
                    by_number[number] = Proof(file=file, line=number, text=masked(clean(number, raw).text))
                if number >= last:
                    break
    except OSError:
        return by_number
    return by_number


def _of(job: Job) -> list[Verdict]:
    criteria = CRITERIA if recognised(job) else [criterion for criterion in CRITERIA if criterion.name in _ALWAYS]
    verdicts = [verdict for criterion in criteria if (verdict := evaluate(criterion, job)) is not None]
    diagnoses = diagnose(job)
    return [_explained(verdict, job, diagnoses) for verdict in verdicts]


def _explained(verdict: Verdict, job: Job, diagnoses: Sequence[Diagnosis]) -> Verdict:
    if verdict.status not in _EXPLAINED:
        return verdict
    cut = verdict.criterion == "complete-logs"
    diagnosed = ended(job, diagnoses) if cut else diagnoses
    causes = list(explaining(diagnosed, verdict.criterion, ended_early=verdict.criterion in _ENDS))
    by_cluster = [str(cause) for cause in reasons(job.why)] if verdict.criterion == "job-ended" else []
    return verdict.model_copy(
        update={
            # A cut log of a program that reported why it cannot go on is a failure, and no missing evidence.
            "status": Status.FAIL if cut and causes else verdict.status,
            "proofs": _unique(verdict.proofs, (proof for cause in causes for proof in cause.proofs)),
            "causes": tuple(dict.fromkeys([*by_cluster, *(str(cause.cause) for cause in causes)])),
        }
    )


def _unique(*groups: Iterable[Proof]) -> tuple[Proof, ...]:
    by_place = {(proof.file, proof.line): proof for proofs in groups for proof in proofs}
    return tuple(by_place.values())
