"""The section of the page with the goodput of trainings: steps over time, with the losses marked, and a table."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from matplotlib.axes import Axes

from core.wording import plural
from toolkit.evidence.criterion import readings_of
from toolkit.evidence.goodput.causes import Cause
from toolkit.evidence.goodput.reading import Goodput, Interruption, duration
from toolkit.evidence.report.canvas import COLOURS, show_figures, svg
from toolkit.evidence.report.tables import NONE, Markup, element, joined, table
from toolkit.evidence.verdict import Job

_UNITS = (("h", 3600), ("min", 60), ("s", 1))
_WAITING = frozenset({Cause.QUEUE, Cause.START, Cause.RESTART, Cause.END})
"""Losses in which the training was not there; in the others it stood still, or did what it had done."""
_NARROWEST = 0.004
"""Share of the width that a mark has at least."""


def goodput(jobs: Sequence[Job], stamp: str) -> Markup | None:
    """Return the goodput of each job that has one; None where none has. `stamp` is written in each plot."""
    measured = [
        (job.request.job, reading)
        for job in jobs
        for reading in readings_of(job, Goodput)
        if reading.of_wall is not None
    ]
    if not measured:
        return None
    plots = [
        element(
            "figure",
            element("figcaption", f"{name}: steps over time, {_unit(reading)[0]}"),
            _plot(name, reading, f"goodput{number}", stamp),
            element(
                "p", "Dark: nothing ran. Light: it stood still, saved, or did again what was lost.", class_="muted"
            ),
        )
        for number, (name, reading) in enumerate(measured)
    ]
    pieces = [element("div", *plots, class_="plots"), _shares(measured)]
    stops = [(name, row) for name, reading in measured for row in reading.interruptions]
    return joined(*pieces, _stops(stops) if stops else None)


def _unit(reading: Goodput) -> tuple[str, int]:
    return next((unit for unit in _UNITS if reading.wall_s >= 2 * unit[1]), _UNITS[-1])


def _plot(name: str, reading: Goodput, drawing: str, stamp: str) -> Markup:
    unit, size = _unit(reading)

    def draw(axes: Axes) -> None:
        narrowest = _NARROWEST * reading.wall_s
        for loss in reading.losses:
            end = max(loss.end_s, loss.begin_s + narrowest)
            dark = 0.5 if loss.cause in _WAITING else 0.2
            axes.axvspan(loss.begin_s / size, end / size, color=COLOURS["muted"], alpha=dark, linewidth=0)
        for part in _rising(reading.course):
            axes.plot([time / size for time, _ in part], [step for _, step in part], color=COLOURS["s1"])
        for stop in reading.interruptions:
            axes.axvline(stop.at_s / size, color=COLOURS["bad"], linewidth=1.2)
        axes.set_xlim(0, reading.wall_s / size)
        axes.set_xlabel(f"time, {unit}")
        axes.set_ylabel("step")
        show_figures(axes.xaxis)
        show_figures(axes.yaxis)

    stops = plural(len(reading.interruptions), "interruption")
    text = f"steps over time of {name}: {reading.steps} in {duration(reading.wall_s)}, {stops}; {reading.lost()}"
    return svg(draw, drawing, text, stamp)


def _rising(course: Sequence[tuple[float, int]]) -> Iterator[Sequence[tuple[float, int]]]:
    """Yield the parts of a course between restarts, in which its steps grow."""
    turns = [index for index in range(1, len(course)) if course[index][1] <= course[index - 1][1]]
    for begin, end in pairwise((0, *turns, len(course))):
        yield course[begin:end]


def _shares(measured: Sequence[tuple[str, Goodput]]) -> Markup:
    causes = [cause for cause in Cause if any(reading.seconds.get(cause) for _, reading in measured)]
    rows = [
        (
            name,
            f"{reading.of_wall or 0:.1%}",
            f"{reading.without_waiting or 0:.1%}",
            duration(reading.wall_s),
            *(duration(spent) if (spent := reading.seconds.get(cause)) else NONE for cause in causes),
        )
        for name, reading in measured
    ]
    heads = ("job", "of all time", "without waiting", "time", *causes)
    caption = "Goodput: of all time as Google has it, without waiting for nodes as NVIDIA's readiness engine has it"
    return table(heads, rows, numbers={*range(1, len(heads))}, caption=caption)


def _stops(stops: Iterable[tuple[str, Interruption]]) -> Markup:
    rows = [
        (
            name,
            duration(row.at_s),
            str(row.reached),
            duration(row.noticed_s) if row.noticed_s is not None else NONE,
            duration(row.trains_s) if row.trains_s is not None else NONE,
            str(row.lost),
        )
        for name, row in stops
    ]
    heads = ("job", "stopped after", "at step", "noticed after", "trains again after", "steps lost")
    return table(heads, rows, numbers={1, 2, 3, 4, 5}, caption="Interruptions")
