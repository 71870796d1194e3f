"""Metrics of users' own programs: whether the log has them, their limits, and how they grow with the GPUs."""

from collections.abc import Iterator, Mapping, Sequence

from core.metric import Metric
from core.wording import plural
from toolkit.evidence.criterion import Comparison, Criterion, Outcome, line_proofs, passed, proofs_at, readings_of
from toolkit.evidence.metrics import Measured, Metrics
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed

_SOURCE = "the program's file (docs/guide/programs.md)"
_SIMULATED = Outcome(Status.WARN, "not judged: simulated", "")


def _simulated(job: Job) -> bool:
    """Return whether the log is a simulation's, where a user's own program does not run."""
    return any(reading.simulated for reading in job.readings)


def _rows(job: Job) -> Mapping[str, tuple[str, Measured]]:
    """Return the measurement of each metric, with the file; of several files the last that has it."""
    by_name: dict[str, tuple[str, Measured]] = {}
    for reading in readings_of(job, Metrics):
        for row in reading.rows:
            if row.figure is not None or row.name not in by_name:
                by_name[row.name] = reading.file, row
    return by_name


def _shown(row: Measured, figure: float) -> str:
    return f"{row.name} {figure:,.6g} {row.unit}".rstrip()


def _unmeasured(name: str, rows: Mapping[str, tuple[str, Measured]]) -> str:
    count = rows[name][1].count if name in rows else 0
    return f"{name} (all {count} are in its warm_up)" if count else name


def _printed(job: Job) -> Outcome | None:
    if _simulated(job):
        return _SIMULATED
    rows = _rows(job)
    refused = [(file, row) for file, row in rows.values() if row.refused is not None]
    if refused:
        proofs = line_proofs((file, row.refused) for file, row in refused)
        what = listed(f"{row.name}: the pattern gives no number, or several" for _, row in refused)
        return Outcome(Status.FAIL, what, proofs=proofs)
    measured = {name for name, (_, row) in rows.items() if row.figure is not None}
    missing = [metric.name for metric in job.request.metrics if metric.name not in measured]
    if missing:
        proofs = line_proofs((rows[name][0], rows[name][1].tried) for name in missing if name in rows)
        return Outcome(
            Status.MISSING, f"no value of {listed(_unmeasured(name, rows) for name in missing)}", proofs=proofs
        )
    return Outcome(Status.PASS, listed(_shown(row, row.figure) for _, row in rows.values() if row.figure is not None))


def _within(metric: Metric, figure: float) -> bool:
    least, most = metric.at_least, metric.at_most
    return (least is None or figure >= least) and (most is None or figure <= most)


def _limit(metric: Metric) -> str:
    least = f">= {metric.at_least:g}" if metric.at_least is not None else ""
    most = f"<= {metric.at_most:g}" if metric.at_most is not None else ""
    return f"{metric.name} {' and '.join(filter(None, (least, most)))} {metric.unit}".rstrip()


def _limits(job: Job) -> Outcome | None:
    if _simulated(job):
        return _SIMULATED
    rows = _rows(job)
    limited = [metric for metric in job.request.metrics if metric.at_least is not None or metric.at_most is not None]
    measured = [(metric, *rows[metric.name]) for metric in limited if metric.name in rows]
    judged = [(metric, file, row, row.figure) for metric, file, row in measured if row.figure is not None]
    if not judged:
        return Outcome(Status.MISSING, f"no value of {listed(_unmeasured(metric.name, rows) for metric in limited)}")
    failed = [entry for entry in judged if not _within(entry[0], entry[3])]
    shown = failed or judged
    return Outcome(
        passed(not failed),
        listed(_shown(row, figure) for _, _, row, figure in shown),
        listed(_limit(metric) for metric, *_ in shown),
        tuple(proof for _, file, row, _ in shown for proof in proofs_at(file, row.line)),
    )


def _scaling(jobs: Sequence[Job]) -> Iterator[tuple[str, Outcome]]:
    """Yield each job on more GPUs against the one of the same program, machine and fabric on the fewest."""
    groups: dict[tuple[str | None, ...], list[tuple[int, Job]]] = {}
    for job in jobs:
        request = job.request
        if request.shape is not None and any(metric.efficiency for metric in request.metrics):
            groups.setdefault((request.program, request.profile, request.fabric), []).append((request.shape.total, job))
    for group in groups.values():
        (fewest, base), *others = sorted(group, key=lambda item: item[0])
        for gpus, job in others:
            for metric in job.request.metrics:
                if metric.efficiency is not None and gpus > fewest:
                    yield f"{base.request.job} to {job.request.job}", _compared(metric, (fewest, base), (gpus, job))


def _compared(metric: Metric, small: tuple[int, Job], large: tuple[int, Job]) -> Outcome:
    (few, base), (many, job) = small, large
    if _simulated(base) or _simulated(job):
        return _SIMULATED
    small_row, large_row = (_rows(job).get(metric.name) for job in (base, job))
    before, after = (row[1].figure if row else None for row in (small_row, large_row))
    limit = f"{metric.name} >= {metric.efficiency:.0%} of ideal"
    if small_row is None or large_row is None or not before or after is None:
        return Outcome(Status.MISSING, f"no value of {metric.name} of both jobs", limit)
    share = after / before * few / many
    return Outcome(
        passed(share >= (metric.efficiency or 0)),
        f"{share:.1%} ({before:,.6g} on {few} to {after:,.6g} {metric.unit} on {plural(many, 'GPU')})",
        limit,
        (*proofs_at(small_row[0], small_row[1].line), *proofs_at(large_row[0], large_row[1].line)),
    )


CRITERIA = (
    Criterion(
        name="metrics-printed",
        title="The program prints every metric that its file names",
        limit="a value for each",
        tolerance="in a simulation the program does not run: a warning, never a pass",
        applies="programs with `metrics`",
        source=_SOURCE,
        judge=_printed,
        when=lambda request: bool(request.metrics),
    ),
    Criterion(
        name="metric-limits",
        title="Metrics are within the limits of the program's file",
        limit="at_least and at_most of each",
        unit="the metric's",
        applies="programs whose metrics have limits",
        source=_SOURCE,
        judge=_limits,
        when=lambda request: any(
            metric.at_least is not None or metric.at_most is not None for metric in request.metrics
        ),
    ),
)
COMPARISONS = (
    Comparison(
        name="metric-scaling",
        title="A metric scales with the GPUs as the program's file requires",
        limit="efficiency of each metric",
        unit="share of ideal scaling",
        applies="jobs of one program on different numbers of the same GPUs, whose metrics have an efficiency",
        source=_SOURCE,
        compare=_scaling,
    ),
)
