"""Metrics of users' own programs: whether the log has them, their limits, and how they grow with the GPUs."""

from collections.abc import Iterator, Mapping, Sequence

from core.metric import Metric
from core.wording import plural
from toolkit.evidence.criterion import Comparison, Criterion, Found, at, of, passed, quoted
from toolkit.evidence.metrics import Measured, Metrics
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed

_SOURCE = "the program's file (docs/guide/programs.md)"
_SIMULATED = Found(Status.WARN, "not judged: simulated", "")


def _simulated(job: Job) -> bool:
    """Return whether the log is a simulation's, where a user's own program does not run."""
    return any(one.simulated for one in job.readings)


def _rows(job: Job) -> Mapping[str, tuple[str, Measured]]:
    """Return what was found of each metric, with the file; of several files the last that has it."""
    found: dict[str, tuple[str, Measured]] = {}
    for reading in of(job, Metrics):
        for row in reading.rows:
            if row.figure is not None or row.name not in found:
                found[row.name] = reading.file, row
    return found


def _shown(row: Measured, figure: float) -> str:
    return f"{row.name} {figure:,.6g} {row.unit}".rstrip()


def _unmeasured(name: str, rows: Mapping[str, tuple[str, Measured]]) -> str:
    count = rows[name][1].count if name in rows else 0
    return f"{name} (all {count} are in its warm_up)" if count else name


def _printed(job: Job) -> Found | None:
    if _simulated(job):
        return _SIMULATED
    rows = _rows(job)
    refused = [(file, row) for file, row in rows.values() if row.refused is not None]
    if refused:
        proofs = tuple(proof for file, row in refused for proof in quoted(file, row.refused))
        what = listed(f"{row.name}: the pattern gives no number, or several" for _, row in refused)
        return Found(Status.FAIL, what, proofs=proofs)
    found = {name for name, (_, row) in rows.items() if row.figure is not None}
    lacking = [metric.name for metric in job.request.metrics if metric.name not in found]
    if lacking:
        tried = [(rows[name][0], rows[name][1].tried) for name in lacking if name in rows]
        proofs = tuple(proof for file, line in tried if line is not None for proof in quoted(file, line))
        return Found(
            Status.MISSING, f"no value of {listed(_unmeasured(name, rows) for name in lacking)}", proofs=proofs
        )
    return Found(Status.PASS, listed(_shown(row, row.figure) for _, row in rows.values() if row.figure is not None))


def _within(metric: Metric, figure: float) -> bool:
    least, most = metric.at_least, metric.at_most
    return (least is None or figure >= least) and (most is None or figure <= most)


def _limit(metric: Metric) -> str:
    least = f">= {metric.at_least:g}" if metric.at_least is not None else ""
    most = f"<= {metric.at_most:g}" if metric.at_most is not None else ""
    return f"{metric.name} {' and '.join(filter(None, (least, most)))} {metric.unit}".rstrip()


def _limits(job: Job) -> Found | None:
    if _simulated(job):
        return _SIMULATED
    rows = _rows(job)
    limited = [metric for metric in job.request.metrics if metric.at_least is not None or metric.at_most is not None]
    known = [(metric, *rows[metric.name]) for metric in limited if metric.name in rows]
    judged = [(metric, file, row, row.figure) for metric, file, row in known if row.figure is not None]
    if not judged:
        return Found(Status.MISSING, f"no value of {listed(_unmeasured(metric.name, rows) for metric in limited)}")
    bad = [each for each in judged if not _within(each[0], each[3])]
    shown = bad or judged
    return Found(
        passed(not bad),
        listed(_shown(row, figure) for _, _, row, figure in shown),
        listed(_limit(metric) for metric, *_ in shown),
        tuple(proof for _, file, row, _ in shown for proof in at(file, row.line)),
    )


def _scaling(jobs: Sequence[Job]) -> Iterator[tuple[str, Found]]:
    """Yield each job on more GPUs against the one of the same program, machine and fabric on the fewest."""
    groups: dict[tuple[str | None, ...], list[tuple[int, Job]]] = {}
    for job in jobs:
        request = job.request
        if request.shape is not None and any(metric.efficiency for metric in request.metrics):
            groups.setdefault((request.program, request.profile, request.fabric), []).append((request.shape.total, job))
    for group in groups.values():
        (fewest, base), *others = sorted(group, key=lambda each: each[0])
        for gpus, job in others:
            for metric in job.request.metrics:
                if metric.efficiency is not None and gpus > fewest:
                    yield f"{base.request.job} to {job.request.job}", _compared(metric, (fewest, base), (gpus, job))


def _compared(metric: Metric, small: tuple[int, Job], large: tuple[int, Job]) -> Found:
    (few, base), (many, job) = small, large
    if _simulated(base) or _simulated(job):
        return _SIMULATED
    one, two = (_rows(each).get(metric.name) for each in (base, job))
    before, after = (row[1].figure if row else None for row in (one, two))
    limit = f"{metric.name} >= {metric.efficiency:.0%} of ideal"
    if one is None or two is None or not before or after is None:
        return Found(Status.MISSING, f"no value of {metric.name} of both jobs", limit)
    share = after / before * few / many
    return Found(
        passed(share >= (metric.efficiency or 0)),
        f"{share:.1%} ({before:,.6g} on {few} to {after:,.6g} {metric.unit} on {plural(many, 'GPU')})",
        limit,
        (*at(one[0], one[1].line), *at(two[0], two[1].line)),
    )


CRITERIA = (
    Criterion(
        name="metrics-printed",
        title="The program prints every metric that its file names",
        limit="a value for each",
        tolerance="in a simulation the program does not run: a warning, never a pass",
        applies="programs with `metrics`",
        source=_SOURCE,
        look=_printed,
        when=lambda request: bool(request.metrics),
    ),
    Criterion(
        name="metric-limits",
        title="Metrics are within the limits of the program's file",
        limit="at_least and at_most of each",
        unit="the metric's",
        applies="programs whose metrics have limits",
        source=_SOURCE,
        look=_limits,
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
        look=_scaling,
    ),
)
