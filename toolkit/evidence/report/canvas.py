"""SVG inside a page: its colours are the page's, and follow it from light to dark.

matplotlib takes a second to import, so that nothing but the making of a report may import this module.
"""

import io
import re
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from toolkit.evidence.report.tables import Markup
from toolkit.evidence.wording import figure

_ROLES = ("ink", "muted", "line", "s1", "s2", "paper", "bad", "surface", "faint")
COLOURS = {role: f"#0a0b{number:02x}" for number, role in enumerate(_ROLES, 16)}
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
    "axes.edgecolor": COLOURS["muted"],
    "axes.labelcolor": COLOURS["muted"],
    "text.color": COLOURS["ink"],
    "xtick.color": COLOURS["muted"],
    "ytick.color": COLOURS["muted"],
    "grid.color": COLOURS["line"],
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.7,
}
_DATE = {"Date": None, "Creator": None, "Format": None, "Type": None}
WIDTH, HEIGHT = 4.4, 3.05  # inches of 72 points: readable at 330 px, and not coarse at 520
_STAMP = 9.0
"""Points of the line below each plot."""


def show_figures(axis: Axis, ticks: int = 5) -> None:
    """Have figures at about so many ticks of an axis."""
    axis.set_major_locator(MaxNLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: figure(value)))


def svg(draw: Callable[[Axes], None], name: str, description: str, stamp: str, height: float = HEIGHT) -> Markup:
    """Return a plot with its stamp below; `name` is unique in the page, and ids begin with it."""
    with mpl.rc_context(_SETTINGS):
        drawing = Figure(figsize=(WIDTH, height), layout="constrained")
        axes = drawing.add_subplot()
        drawing.supxlabel(stamp, x=0.99, ha="right", fontsize=_STAMP, color=COLOURS["muted"])
        draw(axes)
        written = io.StringIO()
        drawing.savefig(written, format="svg", transparent=True, metadata=_DATE)
    return _embedded(written.getvalue(), name, description)


def _embedded(svg: str, name: str, description: str) -> Markup:
    """Return an SVG file as an element of a page: named, with ids of its own, in the page's colours and font."""
    match = re.search(r'viewBox="([^"]*)"', svg)
    box = match[1] if match else f"0 0 {WIDTH * 72:.0f} {HEIGHT * 72:.0f}"
    body = svg[svg.index(">", svg.index("<svg")) + 1 :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = re.sub(r'(xlink:href="|url\()#', rf"\1#{name}-", body).replace("xlink:href", "href")
    body = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font-size: \1", body)
    body = re.sub(r"<!--.*?-->\s*", "", body, flags=re.DOTALL)
    for role, colour in COLOURS.items():
        body = body.replace(colour, f"var(--{role})")
    label = description.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return Markup(f'<svg role="img" aria-label="{label}" viewBox="{box}">{body}')
