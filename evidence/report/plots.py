"""Plots as SVG that stands in a page: its colours are the page's, and follow it from light to dark.

matplotlib takes a second to import, so that nothing but the making of a report may import this module.
"""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from evidence.report.bars import Bars
from evidence.report.markup import Markup
from evidence.report.series import Layout, Sweep
from evidence.report.units import Limit, Measure, Point
from evidence.report.words import figure, size

_ROLES = ("ink", "muted", "line", "s1", "s2", "paper", "bad", "surface", "faint")
_COLOURS = {role: f"#0a0b{number:02x}" for number, role in enumerate(_ROLES, 16)}
"""A colour that no plot has by chance for each of the page's; it is replaced by the page's variable."""
_SETTINGS: Any = {
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "hpc",
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _COLOURS["muted"],
    "axes.labelcolor": _COLOURS["muted"],
    "text.color": _COLOURS["ink"],
    "xtick.color": _COLOURS["muted"],
    "ytick.color": _COLOURS["muted"],
    "grid.color": _COLOURS["line"],
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.7,
}
_DATE = {"Date": None, "Creator": None, "Format": None, "Type": None}
_WIDTH, _HEIGHT = 4.4, 3.05  # inches of 72 points: readable at 330 px, and not coarse at 520
_UNITS: Mapping[Measure, str] = {"time": "µs", "busbw": "GB/s"}
CAPTIONS: Mapping[Measure, str] = {"busbw": "Bus bandwidth, GB/s", "time": "Time, µs"}
_TITLES: Mapping[Measure, str] = {"time": "time, µs", "busbw": "bus bandwidth, GB/s"}


class _Style(NamedTuple):
    colour: str
    dash: Literal["-", "--", ":", "-."]
    marker: str = ""
    width: float = 1.7


OUT, IN, PAPER = _Style("s1", "-", "o"), _Style("s2", "--", "s"), _Style("paper", ":", width=4.2)
_LAYOUTS = (OUT, IN, _Style("ink", "-.", "^"), _Style("paper", ":", "D"))


def sweep(drawn: Sweep, measure: Measure, name: str) -> Markup:
    """Return time or bus bandwidth against message size of one layout, both on log axes.

    The limits are drawn over the sizes that they hold for. `name` is unique in the page; ids begin with it.
    """

    def draw(axes: Axes) -> None:
        _curve(axes, drawn.paper, measure, PAPER)
        _curve(axes, drawn.in_place, measure, IN)
        _curve(axes, drawn.out_of_place, measure, OUT)
        for limit in drawn.limits:
            if limit.measure == measure:
                _limit(axes, limit)
        _scales(axes, [point.bytes for point in (*drawn.out_of_place, *drawn.in_place, *drawn.paper)])

    values = [(point.bytes, value) for point in drawn.out_of_place if (value := point.value(measure)) > 0]
    ends = " to ".join(f"{figure(value)} {_UNITS[measure]} at {size(count)}" for count, value in _ends(values))
    return _svg(draw, name, f"{_TITLES[measure]} against message size, {drawn.title}: {ends or 'no figures'}")


def overview(layouts: Sequence[Layout], measure: Measure, name: str) -> Markup:
    """Return the out-of-place curves of several layouts, each with its name at its end."""

    def draw(axes: Axes) -> None:
        for number, each in enumerate(layouts):
            style = _LAYOUTS[number % len(_LAYOUTS)]
            drawn = _curve(axes, each.points, measure, style)
            if drawn:
                axes.annotate(
                    each.name,
                    drawn[-1],
                    (6, 0),
                    textcoords="offset points",
                    va="center",
                    color=_COLOURS[style.colour],
                )
        room = 3 * 1.8 ** max((len(each.name) for each in layouts), default=0)
        _scales(axes, [point.bytes for each in layouts for point in each.points], room=room)

    return _svg(draw, name, f"{_TITLES[measure]} against message size of {', '.join(one.name for one in layouts)}")


def bars(drawn: Bars, name: str) -> Markup:
    """Return rates by GPUs with the ideal line, and the efficiency on each bar."""

    def draw(axes: Axes) -> None:
        places = range(len(drawn.bars))
        top = max((max(bar.value, bar.ideal or 0) for bar in drawn.bars), default=1)
        for place, bar in zip(places, drawn.bars, strict=True):
            measured = bar.measured
            axes.bar(
                place,
                bar.value,
                0.62,
                color=_COLOURS["s1" if measured else "surface"],
                edgecolor=_COLOURS["s1" if measured else "paper"],
                linestyle="-" if measured else "--",
                linewidth=1.2,
            )
            told = f"{figure(bar.value)}" + (f"\n{bar.efficiency:.0%}" if bar.efficiency is not None else "")
            axes.annotate(
                told, (place, max(bar.value, bar.ideal or 0)), (0, 4), textcoords="offset points", ha="center"
            )
            if bar.ideal is not None:
                axes.plot(
                    [place - 0.4, place + 0.4], [bar.ideal] * 2, color=_COLOURS["ink"], linestyle="--", linewidth=1.3
                )
        axes.set_xticks(list(places), [bar.label for bar in drawn.bars])
        axes.set_ylim(0, top * 1.24)
        axes.yaxis.set_major_locator(MaxNLocator(5))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: figure(value)))
        axes.grid(axis="y")
        axes.set_axisbelow(True)
        axes.tick_params(axis="x", length=0)

    told = ", ".join(f"{' '.join(bar.label.split())} {figure(bar.value)} {drawn.unit}" for bar in drawn.bars)
    return _svg(draw, name, f"{drawn.title}: {told}")


def _curve(axes: Axes, points: Sequence[Point], measure: Measure, style: _Style) -> list[tuple[int, float]]:
    """Draw the points that a log axis can show, and return them."""
    shown = [(point.bytes, value) for point in points if (value := point.value(measure)) > 0]
    if shown:
        axes.plot(
            [count for count, _ in shown],
            [value for _, value in shown],
            color=_COLOURS[style.colour],
            linestyle=style.dash,
            linewidth=style.width,
            marker=style.marker or None,
            markersize=3.4,
            markerfacecolor=_COLOURS["surface"] if style.marker == "s" else _COLOURS[style.colour],
        )
    return shown


def _limit(axes: Axes, limit: Limit) -> None:
    first, last = float(limit.first), float(limit.last)
    if first == last:
        first, last = first / 2.2, last * 2.2
    most = limit.kind == "most"
    axes.plot([first, last], [limit.value] * 2, color=_COLOURS["bad"], linewidth=2.2, solid_capstyle="butt")
    sign = "≤" if most else "≥"
    axes.annotate(
        f"limit{' ' if most else chr(10)}{sign} {figure(limit.value)}",
        ((first * last) ** 0.5 if most else limit.last, limit.value),
        (0 if most else 8, 4 if most else -8),
        textcoords="offset points",
        ha="center" if most else "right",
        va="bottom" if most else "top",
        color=_COLOURS["bad"],
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


def _svg(draw: Callable[[Axes], None], name: str, description: str) -> Markup:
    with mpl.rc_context(_SETTINGS):
        drawing = Figure(figsize=(_WIDTH, _HEIGHT), layout="constrained")
        draw(drawing.add_subplot())
        written = io.StringIO()
        drawing.savefig(written, format="svg", transparent=True, metadata=_DATE)
    return _embedded(written.getvalue(), name, description)


def _embedded(svg: str, name: str, description: str) -> Markup:
    """Return an SVG file as an element of a page: named, with ids of its own, in the page's colours and font."""
    found = re.search(r'viewBox="([^"]*)"', svg)
    box = found[1] if found else f"0 0 {_WIDTH * 72:.0f} {_HEIGHT * 72:.0f}"
    body = svg[svg.index(">", svg.index("<svg")) + 1 :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = re.sub(r'(xlink:href="|url\()#', rf"\1#{name}-", body).replace("xlink:href", "href")
    body = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font-size: \1", body)
    body = re.sub(r"<!--.*?-->\s*", "", body, flags=re.DOTALL)
    for role, colour in _COLOURS.items():
        body = body.replace(colour, f"var(--{role})")
    label = description.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return Markup(f'<svg role="img" aria-label="{label}" viewBox="{box}">{body}')
