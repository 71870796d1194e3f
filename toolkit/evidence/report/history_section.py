"""The section of the page that has the rounds of a suite over time, with the versions that changed between them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from toolkit.evidence.records import Run
from toolkit.evidence.report.canvas import COLOURS, show_figures, svg
from toolkit.evidence.report.history import HEADS, Course, changes, courses, rows, title
from toolkit.evidence.report.tables import Markup, element, joined, table
from toolkit.evidence.wording import figure

_LABEL = 9.0
"""Points of the text at a line of a version."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def history(rounds: Sequence[Run]) -> Markup | None:
    """Return each figure over time, and the medians as a table; None where the suite has not run."""
    figure_courses = courses(rounds)
    if not figure_courses:
        return None
    steps = changes(rounds)
    stamp = f"{'simulated, ' if rounds[-1].simulated else ''}suite of stack {rounds[-1].stack}"
    drawn = element(
        "div",
        *(
            element(
                "figure",
                element("figcaption", f"{figure_course.job}: {figure_course.what}, {figure_course.unit}"),
                over_time(figure_course, steps, f"history{number}", stamp),
            )
            for number, figure_course in enumerate(figure_courses)
        ),
        class_="plots",
    )
    note = (
        f"{title(rounds)}. Points are medians of the repeats in a round; error bars show minimum and maximum. Dotted "
        "lines mark rounds after a version change."
    )
    listed = [element("li", f"{time:%Y-%m-%d %H:%M} UTC: {text}") for time, text in steps.items()]
    return joined(
        element("p", note, class_="muted"),
        drawn,
        element("ul", *listed) if listed else None,
        table(HEADS, [*rows(figure_courses)], numbers={3, 4}),
    )


def _days(time: datetime) -> float:
    return (time - _EPOCH) / timedelta(days=1)


def over_time(drawn: Course, steps: Mapping[datetime, str], name: str, stamp: str) -> Markup:
    """Return the median of a figure in each round, with its spread, and the versions that changed."""
    times = [point.time for point in drawn.points]

    def draw(axes: Axes) -> None:
        middles = [point.median for point in drawn.points]
        below = [point.median - min(point.values) for point in drawn.points]
        above = [max(point.values) - point.median for point in drawn.points]
        axes.errorbar(
            [_days(time) for time in times],
            middles,
            yerr=(below, above),
            color=COLOURS["s1"],
            ecolor=COLOURS["muted"],
            elinewidth=0.8,
            capsize=2,
            marker="o",
            markersize=3.4,
        )
        for time, text in steps.items():
            if time in times:
                axes.axvline(_days(time), color=COLOURS["paper"], linestyle=":", linewidth=1.4)
                # Where the curve is not.
                high = middles[times.index(time)] > (min(middles) + max(middles)) / 2
                axes.annotate(
                    text.replace(" became ", " → ").partition(",")[0],
                    (_days(time), 0 if high else 1),
                    (2, 2 if high else -2),
                    xycoords=("data", "axes fraction"),
                    textcoords="offset points",
                    rotation=90,
                    va="bottom" if high else "top",
                    color=COLOURS["muted"],
                    fontsize=_LABEL,
                )
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda days, _: f"{_EPOCH + timedelta(days=days):%d %b %y}"))
        show_figures(axes.yaxis)
        axes.margins(x=0.08, y=0.2)
        axes.grid()

    first, last = drawn.points[0], drawn.points[-1]
    ends = f"{figure(first.median)} to {figure(last.median)} {drawn.unit}"
    return svg(draw, name, f"{drawn.what} of {drawn.job} in {len(times)} rounds: {ends}", stamp)
