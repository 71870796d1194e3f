"""The section of the page that has the metrics of users' own programs."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from toolkit.evidence.report import bar_plots
from toolkit.evidence.report.canvas import COLOURS, svg
from toolkit.evidence.report.markup import Markup, element
from toolkit.evidence.report.metric_figures import Course, courses, metric_bars
from toolkit.evidence.verdict import Job
from toolkit.evidence.wording import figure, some

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
            element(
                "figcaption",
                f"{metric_course.title} over the course of {some(tuple(metric_course.jobs))}{_in(metric_course.unit)}",
            ),
            course(metric_course, f"course{number}", stamp),
        )
        for number, metric_course in enumerate(courses(jobs))
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
        axes.yaxis.set_major_locator(MaxNLocator(5))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: figure(value)))
        axes.grid()
        if len(drawn.jobs) > 1:
            axes.legend(fontsize=9, frameon=False)

    ends = ", ".join(f"{job} {figure(values[0])} to {figure(values[-1])}" for job, values in drawn.jobs.items())
    return svg(draw, name, f"{drawn.title} over the course of jobs: {ends}", stamp)
