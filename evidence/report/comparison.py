"""What changed since earlier runs, beyond what repeats differ by."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import geometric_mean, median
from typing import NamedTuple

from apis.wording import plural
from evidence.records import Kept, Run
from evidence.repeats import faster, spread
from evidence.report.bars import results
from evidence.report.changes import REPEATS, Change, Comparison, Turned
from evidence.report.run_summary import when
from evidence.report.sweeps import nccl_runs
from evidence.tools.mllog import MlLog
from evidence.tools.perftest.model import Perftest
from evidence.verdict import Job, Status
from evidence.wording import size


class Band(NamedTuple):
    """Message sizes with the same behaviour, so that their figures are one figure: their geometric mean.

    `noise`: what it may differ by from run to run where it was not repeated. Twice the largest difference between the
    two halves, out-of-place and in-place, of the paper's three tables (R-4.4-4, R-4.4-8, R-4.4-13), since runs differ
    more than the halves of one; twice is this project's choice. Halves differ by 6.0 %, 1.7 % and 1.5 %.
    """

    first: int
    last: int
    noise: float

    def __str__(self) -> str:
        """Return the sizes."""
        return f"{size(self.first)} to {size(self.last)}"


BANDS = (Band(1, 1 << 14, 0.12), Band((1 << 14) + 1, 1 << 20, 0.034), Band((1 << 20) + 1, 1 << 40, 0.030))
ROUNDING = 0.005
"""What figures of three digits may differ by and be the same: no noise is less."""
OTHER_NOISE = 0.02
"""Of rates and bandwidths without repeats: what a total may differ by from the sum of its ranks (E-50)."""
_TABLES = (
    "mean times of a range of sizes: twice the most that the out-of-place and in-place halves of the paper's tables "
    "differ by (R-4.4-4, R-4.4-8, R-4.4-13)"
)
_RATES = "rates and bandwidths: 2 %, which a job's total may differ by from the sum of its ranks (E-50)"


class NotComparableError(Exception):
    """Runs that cannot be compared: why, and what to do."""


class _Figure(NamedTuple):
    """A figure in its repeats; the least is best for a time."""

    values: tuple[float, ...]
    unit: str
    least: bool
    noise: float
    whence: str


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
                "compare runs of one kind"
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
            notes.append(f"{name} had other settings, so its figures are not compared: {_differs(others[-1], jobs[0])}")
        elif not _measured(jobs[0]):
            continue
        elif any(job.readings == jobs[0].readings for job in others):
            same.append(name)
        else:
            changes += _changes(name, [job for job in others if _shape(job) == _shape(jobs[0])], jobs)
    if same:
        notes.append(f"The same logs as before, so nothing was measured again: {', '.join(same)}")
    notes += [f"{name} is missing now" for name in before_jobs if name not in _jobs([run])]
    return Comparison(_name(earlier), tuple(changes), tuple(_turned(run, runs[-1])), tuple(notes))


def _name(earlier: Sequence[Kept]) -> str:
    if len(earlier) == 1:
        return f"run {earlier[0].number} of {when(earlier[0].run)}"
    numbers = ", ".join(str(kept.number) for kept in earlier)
    return f"the median of {plural(len(earlier), 'run')} ({numbers}), the last of {when(earlier[-1].run)}"


def _jobs(runs: Sequence[Run]) -> Mapping[str, list[Job]]:
    """Return the jobs of runs by their names; the same logs, judged again, are no repeats and count once."""
    found: dict[str, list[Job]] = defaultdict(list)
    for run in runs:
        for job in run.jobs:
            if not any(job.readings == other.readings for other in found[job.request.job]):
                found[job.request.job].append(job)
    return found


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
    return bool(_tables([job]) or _figures([job]))


def _differs(before: Job, after: Job) -> str:
    old, new = _shape(before), _shape(after)
    return ", ".join(f"{key} {old[key]} became {new[key]}" for key in old if old[key] != new[key])


def _changes(name: str, before: Sequence[Job], after: Sequence[Job]) -> Iterator[Change]:
    tables = _tables(before), _tables(after)
    for test in tables[1]:
        if test in tables[0]:
            yield from _of_tables(name, test, tables[0][test], tables[1][test])
    figures = _figures(before), _figures(after)
    for what, now in figures[1].items():
        if what in figures[0] and min(figures[0][what].values) > 0:
            yield _change(name, what, figures[0][what], now)


def _tables(jobs: Sequence[Job]) -> Mapping[str, list[Mapping[int, float]]]:
    """Return the out-of-place times by size of each repeat of each test."""
    found: dict[str, list[Mapping[int, float]]] = defaultdict(list)
    for job in jobs:
        for reading in nccl_runs(job):
            found[reading.test or "nccl-tests"].append(
                {row.bytes: time for row in reading.rows if 0 < (time := row.out_of_place.time_us) < math.inf}
            )
    return found


def _of_tables(
    job: str, test: str, before: Sequence[Mapping[int, float]], after: Sequence[Mapping[int, float]]
) -> Iterator[Change]:
    common = set.intersection(*(set(table) for table in (*before, *after)))
    for band in BANDS:
        sizes = sorted(count for count in common if band.first <= count <= band.last)
        if not sizes:
            continue
        old, new = (
            _Figure(
                tuple(geometric_mean([table[count] for count in sizes]) for table in tables),
                "µs", True, band.noise, _TABLES,
            )
            for tables in (before, after)
        )  # fmt: skip
        yield _change(job, f"{test}, mean time of {Band(sizes[0], sizes[-1], 0)}", old, new)


def _figures(jobs: Sequence[Job]) -> Mapping[str, _Figure]:
    found: dict[tuple[str, str, bool], list[float]] = defaultdict(list)
    for job in jobs:
        values, kind = results(job)
        if values:
            found["training", kind, kind == "s"] += values
        for reading in job.readings:
            if isinstance(reading, MlLog) and reading.minutes is not None:
                found[f"{reading.benchmark or 'benchmark'} to its target", "min", True].append(reading.minutes)
            if isinstance(reading, Perftest):
                for what, unit, least, value in _of_perftest(reading):
                    found[what, unit, least].append(value)
    return {
        what: _Figure(tuple(values), unit, least, OTHER_NOISE, _RATES)
        for (what, unit, least), values in found.items()
        if all(map(math.isfinite, values))
    }


def _of_perftest(reading: Perftest) -> Iterator[tuple[str, str, bool, float]]:
    name = " ".join(word for word in (reading.program or reading.tool, reading.device, reading.role) if word)
    if reading.bandwidth:
        row = reading.bandwidth[-1]
        yield f"{name}, {size(row.bytes)}", "MB/s", False, row.average_mb_s
    if reading.latency and (typical := reading.latency[0].typical_us) is not None:
        yield f"{name}, {size(reading.latency[0].bytes)}", "µs", True, typical


def _change(job: str, what: str, before: _Figure, after: _Figure) -> Change:
    old, new = median(before.values), median(after.values)
    worse = -faster(new, old, "less" if before.least else "more")
    # Where nothing works any more, repeats agree on it.
    apart = max(spread(before.values), spread(after.values) if new else 0, ROUNDING)
    count = max(len(before.values), len(after.values))
    known = len(before.values) >= REPEATS or apart > before.noise
    noise, assumed = (apart, None) if known else (before.noise, before.whence)
    return Change(job, what, before.unit, old, new, worse, noise, count, assumed)


def _turned(run: Run, before: Run) -> Iterator[Turned]:
    def by_key(of: Run) -> Mapping[_Key, tuple[Status, str]]:
        return {(one.job, one.criterion): (one.status, one.measured) for one in of.verdicts}

    old = by_key(before)
    for (job, criterion), (status, measured) in by_key(run).items():
        if (job, criterion) in old and old[job, criterion][0] is not status:
            yield Turned(job, criterion, old[job, criterion][0], status, measured)
    new = by_key(run)
    for (job, criterion), (status, _) in old.items():
        if (job, criterion) not in new and status is Status.PASS and any(one.request.job == job for one in run.jobs):
            yield Turned(job, criterion, status, Status.MISSING, "not judged any more")
