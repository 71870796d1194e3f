"""What changed since earlier runs, beyond what repeats differ by."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from core.wording import plural
from toolkit.evidence.records import Kept, Run
from toolkit.evidence.report.changes import REPEATS, Change, Comparison, StatusChange
from toolkit.evidence.report.compared_figures import (
    BANDS,
    ROUNDING,
    Figure,
    faster,
    figure_of,
    figures,
    name_of,
    spread,
    tables,
)
from toolkit.evidence.report.run_summary import when
from toolkit.evidence.verdict import Job, Status


class NotComparableError(Exception):
    """Runs that cannot be compared: why, and what to do."""


_Key = tuple[str, str]


def compare(run: Run, earlier: Sequence[Kept]) -> Comparison:
    """Return what changed; of several earlier runs, all their repeats together are what was before.

    Raises NotComparableError for a simulated run against a measured one, and for none.
    """
    if not earlier:
        raise NotComparableError("there is no earlier run to compare with")
    for kept in earlier:
        if kept.run.simulated != run.simulated:
            which = ("simulated", "measured")
            raise NotComparableError(
                f"run {kept.number} was {which[not kept.run.simulated]} and this one {which[not run.simulated]}: "
                "compare runs of the same kind"
            )
    runs = [kept.run for kept in earlier]
    notes: list[str] = []
    before_jobs = _jobs(runs)
    changes: list[Change] = []
    same: list[str] = []
    for name, jobs in _jobs([run]).items():
        others = before_jobs.get(name)
        if others is None:
            notes.append(f"{name} is new")
        elif _shape(jobs[0]) != _shape(others[-1]):
            notes.append(
                f"{name} ran with other settings, so its figures are not compared: {_differs(others[-1], jobs[0])}"
            )
        elif not _measured(jobs[0]):
            continue
        elif any(job.readings == jobs[0].readings for job in others):
            same.append(name)
        else:
            changes += _changes(name, [job for job in others if _shape(job) == _shape(jobs[0])], jobs)
    if same:
        notes.append(f"The same logs as before, so nothing was measured again: {', '.join(same)}")
    notes += [f"{name} is missing now" for name in before_jobs if name not in _jobs([run])]
    return Comparison(_name(earlier), tuple(changes), tuple(_status_changes(run, runs[-1])), tuple(notes))


def _name(earlier: Sequence[Kept]) -> str:
    if len(earlier) == 1:
        return f"run {earlier[0].number} of {when(earlier[0].run)}"
    numbers = ", ".join(str(kept.number) for kept in earlier)
    return f"the median of {plural(len(earlier), 'run')} ({numbers}), the last of {when(earlier[-1].run)}"


def _jobs(runs: Sequence[Run]) -> Mapping[str, list[Job]]:
    """Return the jobs of runs by their names; the same logs, judged again, are not repeats and count once."""
    by_name: dict[str, list[Job]] = defaultdict(list)
    for run in runs:
        for job in run.jobs:
            if not any(job.readings == other.readings for other in by_name[job.request.job]):
                by_name[job.request.job].append(job)
    return by_name


def _shape(job: Job) -> Mapping[str, str]:
    request = job.request
    fields = {
        "program": request.program,
        "layout": request.shape,
        "transport": request.transport,
        "profile": request.profile,
        "fabric": request.fabric,
        "HCAs": ", ".join(request.devices) or None,
    }
    return {key: str(value) for key, value in fields.items()}


def _measured(job: Job) -> bool:
    """Return whether a job has figures to compare; facts of nodes and of ports are the same in every run."""
    return bool(tables([job]) or figures([job]))


def _differs(before: Job, after: Job) -> str:
    old, new = _shape(before), _shape(after)
    return ", ".join(f"{key} {old[key]} became {new[key]}" for key in old if old[key] != new[key])


def _changes(name: str, before: Sequence[Job], after: Sequence[Job]) -> Iterator[Change]:
    old, new = tables(before), tables(after)
    for test in new:
        if test in old:
            yield from _of_tables(name, test, old[test], new[test])
    was, now = figures(before), figures(after)
    for what, figure in now.items():
        if what in was and min(was[what].values) > 0:
            yield _change(name, what, was[what], figure)


def _of_tables(
    job: str, test: str, before: Sequence[Mapping[int, float]], after: Sequence[Mapping[int, float]]
) -> Iterator[Change]:
    common = set.intersection(*(set(table) for table in (*before, *after)))
    for band in BANDS:
        sizes = sorted(count for count in common if band.first <= count <= band.last)
        if not sizes:
            continue
        old, new = (figure_of(band, repeat_tables, sizes) for repeat_tables in (before, after))
        yield _change(job, name_of(test, sizes), old, new)


def _change(job: str, what: str, before: Figure, after: Figure) -> Change:
    old, new = median(before.values), median(after.values)
    worse = -faster(new, old, "less" if before.least else "more")
    # Where nothing works any more, repeats agree on it.
    spread_measured = max(spread(before.values), spread(after.values) if new else 0, ROUNDING)
    count = max(len(before.values), len(after.values))
    measured = len(before.values) >= REPEATS or spread_measured > before.noise
    noise, assumed = (spread_measured, None) if measured else (before.noise, before.noise_origin)
    return Change(job, what, before.unit, old, new, worse, noise, count, assumed)


def _status_changes(run: Run, before: Run) -> Iterator[StatusChange]:
    def by_key(of: Run) -> Mapping[_Key, tuple[Status, str]]:
        return {(verdict.job, verdict.criterion): (verdict.status, verdict.measured) for verdict in of.verdicts}

    old = by_key(before)
    for (job, criterion), (status, measured) in by_key(run).items():
        if (job, criterion) in old and old[job, criterion][0] is not status:
            yield StatusChange(job, criterion, old[job, criterion][0], status, measured)
    new, run_jobs = by_key(run), {current.request.job for current in run.jobs}
    for (job, criterion), (status, _) in old.items():
        if (job, criterion) not in new and status is Status.PASS and job in run_jobs:
            yield StatusChange(job, criterion, status, Status.MISSING, "no longer judged")
