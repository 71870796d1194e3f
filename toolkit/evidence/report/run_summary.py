"""What page and summary both show of a run, as text."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.wording import plural
from toolkit.evidence.records import Run
from toolkit.evidence.tools.mllog import UNVERIFIED, MlLog
from toolkit.evidence.verdict import Ended, Job, Status, Verdict
from toolkit.evidence.wording import short, some

WORDS: Mapping[Status, str] = {
    Status.PASS: "pass",
    Status.FAIL: "fail",
    Status.WARN: "warning",
    Status.MISSING: "missing",
}
WORST_FIRST = (Status.FAIL, Status.MISSING, Status.WARN, Status.PASS)
SIMULATED = (
    "Simulated: no GPU or network was involved. The figures come from a model that was fitted to the tables of the "
    "documents; they show that the platform places and verifies jobs, and say nothing about hardware."
)


@dataclass(frozen=True)
class RunOutcome:
    """The verdict on a run."""

    status: Status
    text: str


def outcome(run: Run) -> RunOutcome:
    """Return the verdict on a run, as the exit status of `./hpc verify` has it."""
    failed, missing = run.count(Status.FAIL), run.count(Status.MISSING)
    if failed:
        return RunOutcome(Status.FAIL, f"Failed: {failed} of {plural(len(run.verdicts), 'criterion', 'criteria')}")
    if missing or not run.count(Status.PASS):
        lack = f"{plural(missing, 'criterion has', 'criteria have')} no evidence" if missing else "nothing was judged"
        return RunOutcome(Status.MISSING, f"Not enough evidence: {lack}")
    return RunOutcome(Status.PASS, f"Passed: {plural(run.count(Status.PASS), 'criterion', 'criteria')}")


def counts(run: Run) -> str:
    """Return the number of criteria of each status."""
    named = {Status.PASS: "passed", Status.FAIL: "failed", Status.MISSING: "without evidence"}
    parts = [
        f"{run.count(status)} {word}" for status, word in named.items() if run.count(status) or status != "missing"
    ]
    return ", ".join([*parts, plural(run.count(Status.WARN), "warning")])


def title(run: Run) -> str:
    """Return the title of the page, which starts with `Simulated` for a simulated run."""
    begin = "Simulated: " if run.simulated else ""
    return f"{begin}stack {run.stack}, {outcome(run).text.partition(':')[0].lower()}, {when(run)}"


def stamp(run: Run) -> str:
    """Return the line below each plot: plots are sent on alone."""
    return f"{'simulated, ' if run.simulated else ''}stack {run.stack}, {when(run)}"


def when(run: Run) -> str:
    """Return the time of a run, to the minute."""
    return f"{run.time:%Y-%m-%d %H:%M} UTC"


def by_job(run: Run) -> Mapping[str, Sequence[Verdict]]:
    """Return the verdicts of each job, the jobs in their order and then what is between jobs."""
    verdicts_by_job: dict[str, list[Verdict]] = {job.request.job: [] for job in run.jobs}
    for verdict in run.verdicts:
        verdicts_by_job.setdefault(verdict.job, []).append(verdict)
    return {job: verdicts for job, verdicts in verdicts_by_job.items() if verdicts}


def counted(verdicts: Iterable[Verdict]) -> Sequence[tuple[Status, int]]:
    """Return the number of verdicts of each status, the worst first, without statuses that none has."""
    numbers = Counter(verdict.status for verdict in verdicts)
    return [(status, numbers[status]) for status in WORST_FIRST if numbers[status]]


def named_counts(status_counts: Iterable[tuple[Status, int]]) -> str:
    """Return the same as text."""
    return ", ".join(f"{number} {WORDS[status]}" for status, number in status_counts)


def notable(run: Run, statuses: Container[Status]) -> Sequence[Sequence[Verdict]]:
    """Return the verdicts of these statuses, the worst first, and those with the same causes together."""
    groups: dict[tuple[str, ...], list[Verdict]] = {}
    for status in WORST_FIRST:
        for verdict in run.verdicts:
            if verdict.status is status and status in statuses:
                # A verdict without a known cause has a group of its own.
                groups.setdefault(verdict.causes or (verdict.job, verdict.criterion), []).append(verdict)
    return list(groups.values())


def versions(run: Run) -> Mapping[str, str]:
    """Return the versions of the stack, with those that only a job knows; where jobs differ, each with its job."""
    by_part = dict(run.versions)
    per_job: dict[str, dict[str, list[str]]] = {}
    for job in run.jobs:
        of_job = dict(job.versions)
        for reading in job.readings:
            if reading.nccl is not None and reading.nccl.version:
                of_job.setdefault("NCCL", reading.nccl.version)
        for part, version in of_job.items():
            per_job.setdefault(part, {}).setdefault(version, []).append(job.request.job)
    for part, by_version in per_job.items():
        if part in by_part and [by_part[part]] == list(by_version):
            continue
        if len(by_version) == 1:
            by_part.setdefault(part, next(iter(by_version)))
        else:
            for version, jobs in by_version.items():
                by_part[f"{part} ({some(jobs)})"] = version
    return by_part


def layouts(run: Run) -> Mapping[str, str]:
    """Return pods x GPUs, transport and machine of each job, as far as known; the machine where jobs differ in it."""
    one_kind = len(_machines(run)) == 1
    return {job.request.job: _layout(job, machine=not one_kind) for job in run.jobs}


def _layout(job: Job, *, machine: bool) -> str:
    request = job.request
    parts = [str(request.shape) if request.shape else None, request.transport, request.profile if machine else None]
    return ", ".join(str(part) for part in parts if part)


def _machines(run: Run) -> Sequence[str]:
    return list(dict.fromkeys(job.request.profile for job in run.jobs if job.request.profile))


def about(run: Run) -> str:
    """Return what a run is of: stack, jobs, machines, when it was judged, and the note that MLPerf's rules require."""
    machines = f" on {some(_machines(run))}" if _machines(run) else ""
    scored = any(isinstance(reading, MlLog) for job in run.jobs for reading in job.readings)
    note = f", including MLPerf benchmarks ({UNVERIFIED})" if scored else ""
    return f"Stack {run.stack}, {plural(len(run.jobs), 'job')}{machines}{note}, judged {when(run)}"


def missing(run: Run) -> Iterator[str]:
    """Yield what the evidence lacks: what its logs do, and criteria without any."""
    yield from gaps(run)
    for verdict in run.verdicts:
        if verdict.status is Status.MISSING:
            yield f"{verdict.job}: {verdict.criterion}: {verdict.measured or 'no evidence'}"


def gaps(run: Run) -> Iterator[str]:
    """Yield jobs that did not end, and logs that are absent, cut or have lines that no parser could read."""
    for job in run.jobs:
        name = job.request.job
        if job.ended not in {Ended.SUCCEEDED, Ended.UNKNOWN}:
            yield f"{name}: {job.ended}{f' ({job.why})' if job.why else ''}"
        if not job.readings:
            yield f"{name}: no logs"
        for reading in job.readings:
            where = f"{name}: {reading.tool} ({short(reading.file)}, lines {reading.first_line}-{reading.last_line})"
            if not reading.complete:
                yield f"{where}: incomplete, {reading.incomplete or 'truncated'}"
            if reading.unread_total:
                kept = ", ".join(str(line.line) for line in reading.unread[:5])
                more = ", ..." if reading.unread_total > len(reading.unread[:5]) else ""
                yield f"{where}: {plural(reading.unread_total, 'line')} that no parser could read: {kept}{more}"
    if not run.jobs:
        yield "no jobs"
