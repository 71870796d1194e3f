"""Bars: what is compared by layout, and what links carry."""

from collections.abc import Sequence
from itertools import chain
from typing import Literal, NamedTuple

from matplotlib.axes import Axes

from toolkit.evidence.report.bars import Bar, Bars
from toolkit.evidence.report.canvas import COLOURS, show_figures, svg
from toolkit.evidence.report.links import Link
from toolkit.evidence.report.tables import Markup
from toolkit.evidence.wording import figure

_SIZE, _LETTER, _ROOM = 11.0, 6.4, 262.0
"""Points: of the font, of one of its letters at most, and of all labels beside each other."""


def bars(drawn: Bars, name: str, stamp: str) -> Markup:
    """Return rates by GPUs with the ideal line, and the efficiency on each bar; the paper's bars are outlines."""

    def draw(axes: Axes) -> None:
        places = range(len(drawn.bars))
        top = max((max(bar.value, bar.ideal or 0) for bar in drawn.bars), default=1)
        font = _font([bar.label for bar in drawn.bars])
        for place, bar in zip(places, drawn.bars, strict=True):
            edge = COLOURS["s1" if bar.measured else "paper"]
            face = COLOURS["s1" if bar.measured else "surface"]
            dash = "-" if bar.measured else "--"
            axes.bar(place, bar.value, 0.62, color=face, edgecolor=edge, linestyle=dash, linewidth=1.2)
            above = (place, max(bar.value, bar.ideal or 0))
            axes.annotate(_label(bar), above, (0, 4), textcoords="offset points", ha="center", fontsize=font)
            if bar.ideal is not None:
                ends = [place - 0.4, place + 0.4]
                axes.plot(ends, [bar.ideal] * 2, color=COLOURS["ink"], linestyle="--", linewidth=1.3)
        axes.set_xticks(list(places), [bar.label for bar in drawn.bars], fontsize=font)
        axes.set_ylim(0, top * 1.24 or 1)
        _scale(axes, "y", 5)

    description = ", ".join(f"{' '.join(bar.label.split())} {figure(bar.value)} {drawn.unit}" for bar in drawn.bars)
    return svg(draw, name, f"{drawn.title}: {description}", stamp)


def _scale(axes: Axes, name: Literal["x", "y"], ticks: int) -> None:
    """Put figures and a grid on one axis, and no ticks on the other."""
    show_figures(axes.xaxis if name == "x" else axes.yaxis, ticks)
    axes.grid(axis=name)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y" if name == "x" else "x", length=0)


def _label(bar: Bar) -> str:
    return figure(bar.value) + (f"\n{bar.efficiency:.0%}" if bar.efficiency is not None else "")


def _font(labels: Sequence[str]) -> float:
    """Return the size at which labels beside each other do not touch."""
    longest = max((len(word) for word in chain.from_iterable(label.split() for label in labels)), default=1)
    return _SIZE * min(1.0, _ROOM / len(labels) / (max(longest, 6) * _LETTER)) if labels else _SIZE


def rates(drawn: Sequence[Link], name: str, stamp: str) -> Markup:
    """Return the bandwidth of links as horizontal bars, with their limit and their line rate as lines."""
    shown = drawn[::-1]
    papers = sorted({link.paper_mb_s for link in drawn if link.paper_mb_s})
    limits = {link.least_mb_s for link in drawn if link.least_mb_s}
    lines = {link.line_mb_s for link in drawn if link.line_mb_s}
    least = min(limits) if len(limits) == 1 else None
    line = min(lines) if len(lines) == 1 else None

    def draw(axes: Axes) -> None:
        labels = [*(f"paper\n{figure(value)}" for value in papers), *(_side(link) for link in shown)]
        for place, value in enumerate(papers):
            edge, face = COLOURS["paper"], COLOURS["surface"]
            axes.barh(place, value, 0.6, color=face, edgecolor=edge, linestyle="--", linewidth=1.2)
        for place, link in enumerate(shown, len(papers)):
            axes.barh(place, link.mb_s, 0.6, color=COLOURS["s1"])
        top = len(labels) - 0.5
        _upright(axes, least, top, _Line("limit ≥", "bad", -2))
        _upright(axes, line, top, _Line("line rate", "muted", 2))
        axes.set_yticks(range(len(labels)), labels)
        most = max(
            [*(bound.mb_s for bound in drawn), *papers, *(bound for bound in (least, line) if bound is not None)]
        )
        axes.set_xlim(0, most * 1.45 or 1)
        axes.set_ylim(-0.5, len(labels) - 0.1)
        _scale(axes, "x", 4)

    description = ", ".join(f"{' '.join(_side(link).split())} MB/s" for link in drawn)
    height = 1.15 + 0.5 * (len(drawn) + len(papers))
    return svg(draw, name, f"bandwidth of links: {description}", stamp, height)


class _Line(NamedTuple):
    """What a line is: its name above is to the left of it for a negative `aside`, in points."""

    text: str
    role: str
    aside: int


def _upright(axes: Axes, value: float | None, top: float, line: _Line) -> None:
    if value is None:
        return
    axes.plot([value] * 2, [-0.5, top], color=COLOURS[line.role], linewidth=1.8, solid_capstyle="butt")
    axes.annotate(
        f"{line.text} {figure(value)}",
        (value, top),
        (line.aside, 4),
        textcoords="offset points",
        ha="right" if line.aside < 0 else "left",
        color=COLOURS[line.role],
        fontsize=10.5,
        annotation_clip=False,
    )


def _side(link: Link) -> str:
    about = " ".join(word for word in (link.device, link.role) if word) or link.program
    return f"{about}\n{figure(link.mb_s)}"
