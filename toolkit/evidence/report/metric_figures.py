"""Metrics of users' own programs as a report draws them: by the GPUs of jobs, and in the course of each job."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.metric import Metric
from toolkit.evidence.criterion import readings_of
from toolkit.evidence.metrics import Measured, Metrics
from toolkit.evidence.report.bars import Bar, Bars
from toolkit.evidence.verdict import Job, Shape


@dataclass(frozen=True)
class Course:
    """One metric of one program: its values in the order of the log, by job."""

    title: str
    unit: str
    jobs: Mapping[str, tuple[float, ...]]


def _measured(jobs: Iterable[Job]) -> Iterable[tuple[Job, Metric, Measured]]:
    for job in jobs:
        metrics = {metric.name: metric for metric in job.request.metrics}
        for reading in readings_of(job, Metrics):
            yield from ((job, metrics[row.name], row) for row in reading.rows if row.name in metrics)


def metric_bars(jobs: Iterable[Job]) -> tuple[Bars, ...]:
    """Return each metric by GPUs, where several layouts have it; the ideal is that of the fewest GPUs.

    Only a metric with an expected efficiency has an ideal: others need not grow with the GPUs.
    """
    groups: dict[tuple[str, str], list[tuple[Shape, Metric, float]]] = {}
    for job, metric, row in _measured(jobs):
        shape = job.request.shape
        if shape is not None and row.figure is not None and math.isfinite(row.figure):
            key = (job.request.program or job.request.job, metric.name)
            groups.setdefault(key, []).append((shape, metric, row.figure))
    several = ((key, members) for key, members in groups.items() if len({shape for shape, *_ in members}) > 1)
    return tuple(_bars(f"{program}, {name}", members) for (program, name), members in several)


def _bars(title: str, members: list[tuple[Shape, Metric, float]]) -> Bars:
    ordered = sorted(members, key=lambda member: member[0].total)
    fewest, metric, least = ordered[0]

    def ideal(shape: Shape) -> float | None:
        return least * shape.total / fewest.total if metric.efficiency and shape.total > fewest.total else None

    bars = tuple(Bar(f"{shape}\nhere", value, ideal(shape), measured=True) for shape, _, value in ordered)
    note = f"Dashed: ideal scaling from {fewest}. Percentages: share of the ideal." if metric.efficiency else ""
    return Bars(title, metric.unit, bars, note)


def courses(jobs: Iterable[Job]) -> tuple[Course, ...]:
    """Return the values of each metric in the course of the jobs, where there are several."""
    groups: dict[tuple[str, str], tuple[str, dict[str, tuple[float, ...]]]] = {}
    for job, metric, row in _measured(jobs):
        if len(row.course) > 1:
            key = (job.request.program or job.request.job, metric.name)
            groups.setdefault(key, (metric.unit, {}))[1][job.request.job] = row.course
    return tuple(
        Course(f"{program}, {name}", unit, values_by_job) for (program, name), (unit, values_by_job) in groups.items()
    )
