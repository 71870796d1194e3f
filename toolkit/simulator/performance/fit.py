"""Fits curves to measured tables: `python -m toolkit.simulator.performance.fit` writes curves.py and its page."""

import math
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from types import MappingProxyType

from core.hardware.measured import ALL_REDUCE, NVLINK_COLLECTIVES
from core.project import PRODUCT
from core.wording import table
from toolkit.simulator.performance import model, programs_page
from toolkit.simulator.performance.curves import CURVES, NVLINK, Curve, Segment

Row = tuple[float, float]

SMALLEST = ALL_REDUCE[0].rows[0].bytes
"""Bytes of the first row of the Redpaper's tables; each row has twice the bytes of the one before."""
TABLES: Mapping[str, tuple[Row, ...]] = MappingProxyType(
    {
        f"{table.pods}x{table.gpus}": tuple((row.out_of_place.time_us, row.in_place.time_us) for row in table.rows)
        for table in ALL_REDUCE
    }
)
"""Layout as pods x GPUs -> microseconds of all-reduce, out of place and in place."""


def points(layout: str) -> list[tuple[int, float]]:
    """Return size in bytes and time in microseconds of every figure of a table."""
    return [(SMALLEST << index, time) for index, row in enumerate(TABLES[layout]) for time in row]


SEGMENTS = 4
NVLINK_SEGMENTS = 3
"""Of a curve over NVLink, for which there are half as many sizes."""
FITTED = ("all_reduce", "all_gather", "alltoall")
"""Collectives whose times over NVLink are fitted; the others follow from them."""
LEAST = 3
"""Sizes of a segment."""
ROOT = PRODUCT
PAGE = ROOT / "docs" / "reference" / "performance-model.md"
DATA = Path(__file__).with_name("curves.py")

TEMPLATE = Path(__file__).with_name("fit.md")

Points = Sequence[tuple[int, float]]


def line(points: Points) -> tuple[float, float]:
    """Return latency (us) and time per byte (us) with the least squares of relative errors; neither is below 0."""
    weights = [(size, time, 1 / time**2) for size, time in points]
    total = sum(weight for _, _, weight in weights)
    mean_size = sum(size * weight for size, _, weight in weights) / total
    mean_time = sum(time * weight for _, time, weight in weights) / total
    spread = sum(weight * (size - mean_size) ** 2 for size, _, weight in weights)
    slope = sum(weight * (size - mean_size) * (time - mean_time) for size, time, weight in weights) / spread
    latency = mean_time - slope * mean_size
    if latency < 0:
        return 0.0, sum(w * s * t for s, t, w in weights) / sum(w * s * s for s, _, w in weights)
    return latency, slope


def fitted(points: Points, segments: int = SEGMENTS) -> Curve:
    """Return the best curve of so many segments: every way to divide the sizes is compared."""
    sizes = sorted({size for size, _ in points})
    best: dict[tuple[int, int], tuple[float, Curve]] = {(0, 0): (0.0, ())}
    for count in range(1, segments + 1):
        for end in range(LEAST * count, len(sizes) + 1):
            options = []
            for start in range(end - LEAST + 1):
                if (count - 1, start) not in best:
                    continue
                inside = [(size, time) for size, time in points if sizes[start] <= size <= sizes[end - 1]]
                latency, slope = line(inside)
                if slope > 0:
                    error = sum(((latency + slope * size) / time - 1) ** 2 for size, time in inside)
                    before, curve = best[count - 1, start]
                    rounded = round(latency, 2), float(f"{1e-3 / slope:.4g}")
                    segment = Segment(sizes[end - 1], *rounded, sizes[start])
                    options.append((before + error, (*curve, segment)))
            if options:
                best[count, end] = min(options, key=lambda option: option[0])
    return best[segments, len(sizes)][1]


def residuals(curve: Curve, points: Points) -> list[float]:
    """Return the relative errors of a curve, without sign."""
    return [abs(model.curve_us(curve, size) / time - 1) for size, time in points]


def nvlink_points(collective: str) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
    """Return size and time over NVLink of every second size, which are fitted, and of those between them."""
    measured = sorted(NVLINK_COLLECTIVES.times_us[collective].items())
    return measured[::2], measured[1::2]


def data(text: str, name: str, curves: dict[str, Curve]) -> str:
    """Return the text of curves.py with other curves of a name."""
    rows = "".join(
        f'        "{layout}": (\n'
        + "".join(
            f"            Segment({segment.up_to}, {segment.latency_us}, {segment.gb_s}, {segment.least}),\n"
            for segment in curve
        )
        + "        ),\n"
        for layout, curve in curves.items()
    )
    table = f"{name}: Mapping[str, Curve] = MappingProxyType(\n    {{\n{rows}    }}\n)\n"
    return re.sub(rf"^{name}: .*?^\)\n", lambda _: table, text, count=1, flags=re.DOTALL | re.MULTILINE)


def page() -> str:
    """Return docs/reference/performance-model.md: the template with the tables in its fields, then other programs."""
    errors = {layout: residuals(curve, points(layout)) for layout, curve in CURVES.items()}
    heads = [f"up to {size:,} B" for size in model.CLASSES]
    columns = [column for name in CURVES for column in (f"{name} measured, us", "model, us")]
    nccl = TEMPLATE.read_text().format(
        fit=_segments("layout", CURVES),
        residuals=table(
            ("layout", "median", "worst"),
            ((layout, f"{median(figures):.1%}", f"{max(figures):.1%}") for layout, figures in errors.items()),
        ),
        spreads=table(
            ("layout", *heads, "above"),
            ((layout, *(f"{share:.1%}" for share in spread)) for layout, spread in model.SPREADS.items()),
        ),
        nvlink_source=NVLINK_COLLECTIVES.source,
        nvlink=_segments("collective", NVLINK),
        nvlink_errors=table(("collective", "fitted", "sizes", "median error", "worst"), nvlink_errors()),
        sizes=table(("size", *columns), map(_sizes, range(len(TABLES["1x8"])))),
        effects=table(
            ("effect", "figure", "of what", "source"),
            ((effect.name, f"{effect.value:g}", effect.meaning, effect.source) for effect in model.EFFECTS),
        ),
    )
    return f"{nccl}\n{programs_page.section()}"


def _segments(what: str, curves: Mapping[str, Curve]) -> str:
    return table(
        (what, "sizes up to", "latency, us", "algorithm bandwidth, GB/s"),
        (
            (name, f"{segment.up_to:,} B", f"{segment.latency_us:g}", f"{segment.gb_s:g}")
            for name, curve in curves.items()
            for segment in curve
        ),
    )


def nvlink_errors() -> list[tuple[str, ...]]:
    """Return rows: the errors of each collective, of the sizes that were fitted and the others, and of all others."""
    rows, unfitted = [], []
    for name in NVLINK_COLLECTIVES.times_us:
        curve = NVLINK[model.nvlink_curve(name)]
        fitted_to, others = nvlink_points(name)
        if name not in FITTED:
            fitted_to, others = [], [*fitted_to, *others]
        for sample, answer in ((fitted_to, "yes"), (others, "no")):
            if sample:
                differences = residuals(curve, sample)
                rows.append((name, answer, str(len(sample)), f"{median(differences):.1%}", f"{max(differences):.1%}"))
        unfitted += residuals(curve, others)
    return [*rows, ("all together", "no", str(len(unfitted)), f"{median(unfitted):.1%}", f"{max(unfitted):.1%}")]


def _sizes(index: int) -> list[str]:
    """Return a row: a size, and what was measured of it and follows from each curve."""
    size = SMALLEST << index
    cells = [f"{size:,}"]
    for name, curve in CURVES.items():
        measured = math.fsum(TABLES[name][index]) / 2
        cells += [f"{measured:,.1f}", f"{model.segment(curve, size).us(size):,.1f}"]
    return cells


def main() -> None:
    """Write the data, then, with it, the page."""
    if sys.argv[1:] != ["page"]:
        text = data(DATA.read_text(), "CURVES", {layout: fitted(points(layout)) for layout in TABLES})
        over_nvlink = {name: fitted(nvlink_points(name)[0], NVLINK_SEGMENTS) for name in FITTED}
        DATA.write_text(data(text, "NVLINK", over_nvlink))
        # The page shows what is imported, and this process has the old curves.
        subprocess.run([sys.executable, "-m", "toolkit.simulator.performance.fit", "page"], check=True)
        return
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
