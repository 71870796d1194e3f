"""Curves against message size."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from toolkit.evidence.report.canvas import COLOURS, svg
from toolkit.evidence.report.sweeps import Limit, Measure, Point, Sweep
from toolkit.evidence.report.tables import Markup
from toolkit.evidence.wording import figure, size

_UNITS: Mapping[Measure, str] = {"time": "µs", "busbw": "GB/s"}
CAPTIONS: Mapping[Measure, str] = {"busbw": "bus bandwidth, GB/s", "time": "time, µs"}
_LABEL = 13.5
"""Points from the middle of a label to that of the next."""


class _Style(NamedTuple):
    colour: str
    dash: Literal["-", "--", ":", "-."]
    marker: str = ""
    width: float = 1.7


OUT, IN, PAPER = _Style("s1", "-", "o"), _Style("s2", "--", "s"), _Style("paper", ":", width=4.2)
_LAYOUTS = (OUT, IN, _Style("ink", "-.", "^"), _Style("paper", ":", "D"))
_THIN = 0.7


def sweep(drawn: Sweep, measure: Measure, name: str, stamp: str) -> Markup:
    """Return time or bus bandwidth against message size of one layout, both on log axes.

    Of several runs each is a thin line, and the median a thick one. The limits are drawn over the sizes that they hold
    for. `name` is unique in the page; ids begin with it.
    """

    def draw(axes: Axes) -> None:
        _curve(axes, drawn.paper, measure, PAPER)
        _runs(axes, drawn, measure, OUT)
        _curve(axes, drawn.in_place, measure, IN)
        _curve(axes, drawn.out_of_place, measure, OUT)
        for limit in drawn.limits:
            if limit.measure == measure:
                _limit(axes, limit)
        _scales(axes, [point.bytes for point in (*drawn.out_of_place, *drawn.in_place, *drawn.paper)])

    values = [(point.bytes, value) for point in drawn.out_of_place if (value := point.value(measure)) > 0]
    ends = " to ".join(f"{figure(value)} {_UNITS[measure]} at {size(count)}" for count, value in _ends(values))
    description = f"{CAPTIONS[measure]} against message size, {drawn.title}: {ends or 'no figures'}"
    return svg(draw, name, description, stamp)


def overview(layouts: Sequence[Sweep], measure: Measure, name: str, stamp: str) -> Markup:
    """Return the out-of-place curves of several layouts, each with its name at its end."""

    def draw(axes: Axes) -> None:
        ends = []
        for number, layout in enumerate(layouts):
            style = _LAYOUTS[number % len(_LAYOUTS)]
            _runs(axes, layout, measure, style)
            drawn = _curve(axes, layout.out_of_place, measure, style)
            if drawn:
                ends.append(_End(layout.layout, COLOURS[style.colour], *drawn[-1]))
        room = 3 * 1.8 ** max((len(layout.layout) for layout in layouts), default=0)
        _scales(axes, [point.bytes for layout in layouts for point in layout.out_of_place], room=room)
        _names(axes, ends)

    description = f"{CAPTIONS[measure]} against message size of {', '.join(layout.layout for layout in layouts)}"
    return svg(draw, name, description, stamp)


class _End(NamedTuple):
    """The last point of a curve that is named there."""

    name: str
    colour: str
    bytes: int
    value: float


def _names(axes: Axes, ends: Sequence[_End]) -> None:
    """Write names beside the ends of their curves; those that would cover each other are moved apart."""
    drawing = axes.get_figure(root=True)
    if not ends or drawing is None:
        return
    drawing.draw_without_rendering()  # only now it is known where a value is on paper
    points = 72 / drawing.dpi
    heights = [axes.transData.transform((end.bytes, end.value))[1] * points for end in ends]
    for end, height, place in zip(ends, heights, spaced(heights, _LABEL), strict=True):
        moved = abs(place - height) > 1
        axes.annotate(
            end.name,
            (end.bytes, end.value),
            (14 if moved else 6, place - height),
            textcoords="offset points",
            va="center",
            color=end.colour,
            arrowprops={"arrowstyle": "-", "color": end.colour, "linewidth": 0.7, "shrinkA": 1, "shrinkB": 3}
            if moved
            else None,
        )


def _runs(axes: Axes, drawn: Sweep, measure: Measure, style: _Style) -> None:
    """Draw each of several runs thin, behind their median."""
    if len(drawn.runs) > 1:
        for run in drawn.runs:
            _curve(axes, run, measure, _Style(style.colour, "-", width=_THIN))


def _curve(axes: Axes, points: Sequence[Point], measure: Measure, style: _Style) -> list[tuple[int, float]]:
    """Draw the points that a log axis can show, and return them."""
    shown = [(point.bytes, value) for point in points if (value := point.value(measure)) > 0]
    if shown:
        axes.plot(
            [count for count, _ in shown],
            [value for _, value in shown],
            color=COLOURS[style.colour],
            linestyle=style.dash,
            linewidth=style.width,
            marker=style.marker or None,
            markersize=3.4,
            markerfacecolor=COLOURS["surface"] if style.marker == "s" else COLOURS[style.colour],
        )
    return shown


def _limit(axes: Axes, limit: Limit) -> None:
    first, last = float(limit.first), float(limit.last)
    if first == last:
        first, last = first / 2.2, last * 2.2
    most = limit.kind == "most"
    axes.plot([first, last], [limit.value] * 2, color=COLOURS["bad"], linewidth=2.2, solid_capstyle="butt")
    sign = "≤" if most else "≥"
    axes.annotate(
        f"limit{' ' if most else chr(10)}{sign} {figure(limit.value)}",
        ((first * last) ** 0.5 if most else limit.last, limit.value),
        (0 if most else 8, 4 if most else -8),
        textcoords="offset points",
        ha="center" if most else "right",
        va="bottom" if most else "top",
        color=COLOURS["bad"],
        fontsize=10.5,
        annotation_clip=False,
    )


def _scales(axes: Axes, sizes: Sequence[int], room: float = 1) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    if sizes:
        ticks = [1 << power for power in range(4, 41, 6) if min(sizes) <= 1 << power <= max(sizes)]
        axes.xaxis.set_major_locator(FixedLocator(ticks or [min(sizes)]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: size(round(value))))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(base=10, numticks=16))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: figure(value)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("message size")
    axes.grid()
    axes.margins(y=0.1)
    if sizes:
        # The same sizes in both measures: a bandwidth that was printed as 0.00 has no place on a log axis.
        axes.set_xlim(min(sizes) / 1.7, max(sizes) * (1.7 * room))


def _ends(values: Sequence[tuple[int, float]]) -> Sequence[tuple[int, float]]:
    return (values[0], values[-1]) if len(values) > 1 else values


def spaced(heights: Sequence[float], gap: float) -> tuple[float, ...]:
    """Return places that are at least `gap` apart, in the order of `heights` and as near to them as can be."""
    order = sorted(range(len(heights)), key=lambda index: heights[index])
    groups: list[tuple[float, int]] = []  # of labels that touch: the lowest's place, and how many they are
    for index in order:
        low, count = heights[index], 1
        while groups and low < groups[-1][0] + groups[-1][1] * gap:
            before, more = groups.pop()
            # Both groups' labels want to be where their own places put them: the mean, of what each adds.
            low = (before * more + (low - more * gap) * count) / (more + count)
            count += more
        groups.append((low, count))
    places = [low + step * gap for low, count in groups for step in range(count)]
    found = dict(zip(order, places, strict=True))
    return tuple(found[index] for index in range(len(heights)))
