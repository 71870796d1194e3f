"""The section of the page with the metrics of users' own programs: by the GPUs of jobs, and in the course of each."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from core.metric import Metric
from toolkit.evidence.criterion import readings_of
from toolkit.evidence.metrics import Measured, Metrics
from toolkit.evidence.report import bar_plots
from toolkit.evidence.report.bars import Bar, Bars
from toolkit.evidence.report.canvas import COLOURS, show_figures, svg
from toolkit.evidence.report.tables import Markup, element
from toolkit.evidence.verdict import Job, Shape
from toolkit.evidence.wording import figure, some


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


_STYLES = (("s1", "-"), ("s2", "--"), ("ink", "-."), ("paper", ":"))


def metrics(jobs: Sequence[Job], stamp: str) -> Markup | None:
    """Return each metric by GPUs, and in the course of the jobs; None where there are none."""
    figures = [
        element(
            "figure",
            element("figcaption", f"{chart.title} by GPUs{_in(chart.unit)}"),
            bar_plots.bars(chart, f"metric{number}", stamp),
            element("p", chart.note, class_="muted"),
        )
        for number, chart in enumerate(metric_bars(jobs))
    ]
    figures += [
        element(
            "figure",
            element("figcaption", f"{drawn.title} over the course of {some(tuple(drawn.jobs))}{_in(drawn.unit)}"),
            course(drawn, f"course{number}", stamp),
        )
        for number, drawn in enumerate(courses(jobs))
    ]
    return element("div", *figures, class_="plots") if figures else None


def _in(unit: str) -> str:
    return f", {unit}" if unit else ""


def course(drawn: Course, name: str, stamp: str) -> Markup:
    """Return the values of a metric from the first to the last of each job's log."""

    def draw(axes: Axes) -> None:
        for number, (job, values) in enumerate(drawn.jobs.items()):
            colour, dash = _STYLES[number % len(_STYLES)]
            shares = [100 * index / (len(values) - 1) for index in range(len(values))]
            axes.plot(shares, values, color=COLOURS[colour], linestyle=dash, label=job)
        axes.set_xlabel("% of the job's values")
        show_figures(axes.yaxis)
        axes.grid()
        if len(drawn.jobs) > 1:
            axes.legend(fontsize=9, frameon=False)

    ends = ", ".join(f"{job} {figure(values[0])} to {figure(values[-1])}" for job, values in drawn.jobs.items())
    return svg(draw, name, f"{drawn.title} over the course of jobs: {ends}", stamp)
