"""Fits curves to the Redpaper's tables: `python -m simulator.performance.fit` writes curves.py and the page of docs."""

import math
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from simulator.performance import model, paper
from simulator.performance.curves import CURVES, Curve, Segment

SEGMENTS = 4
LEAST = 3
"""Sizes of a segment."""
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "performance-model.md"
DATA = Path(__file__).with_name("curves.py")

INTRODUCTION = """# Performance model of the simulated cluster

Nothing is computed on a simulated cluster. What its jobs print of time and bandwidth comes from this model: curves
fitted to the Redpaper's three tables (R-4.4-4, R-4.4-8, R-4.4-13; DGX-1 with EDR InfiniBand and GPUDirect), and
effects of other machines, networks and faults. It shows whether a platform is joined up as asked. It says nothing of
how fast a machine is that the Redpaper did not measure: those figures are scaled by the rates of links, and not
measured.

Written by `python -m simulator.performance.fit`.

A curve has four segments, for the ways in which NCCL moves messages of different size; each is time = latency + size
/ bandwidth, chosen and fitted together by the least squares of relative errors. A job takes the curve of the layout
that it is most like: one node, several nodes with several GPUs in a pod, pods of one GPU. Its bandwidth is then
scaled: on one node by NVLink's bandwidth of a GPU; between nodes by the rate and the number of HCAs that every pod
can use (a port that is down, or a resource without a device, takes its share away), and by the number of pods that
share them. Bus bandwidth follows as in nccl-tests: algorithm bandwidth x 2(n-1)/n of all-reduce, x (n-1)/n of
all-gather, reduce-scatter and all-to-all, x 1 of broadcast, reduce and send-receive.
"""

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
    """Return the best curve of so many segments: every way to divide the sizes is looked at."""
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
                    segment = Segment(sizes[end - 1], round(latency, 2), float(f"{1e-3 / slope:.4g}"))
                    options.append((before + error, (*curve, segment)))
            if options:
                best[count, end] = min(options, key=lambda option: option[0])
    return best[segments, len(sizes)][1]


def residuals(curve: Curve, points: Points) -> list[float]:
    """Return the relative errors of a curve, without sign."""
    return [abs(model.segment(curve, size).us(size) / time - 1) for size, time in points]


def data(curves: dict[str, Curve]) -> str:
    """Return the text of curves.py with other curves."""
    text = DATA.read_text()
    rows = "".join(
        f'        "{layout}": (\n'
        + "".join(f"            Segment({one.up_to}, {one.latency_us}, {one.gb_s}),\n" for one in curve)
        + "        ),\n"
        for layout, curve in curves.items()
    )
    table = f"CURVES: Mapping[str, Curve] = MappingProxyType(\n    {{\n{rows}    }}\n)\n"
    return re.sub(r"CURVES: .*?\n?\}?\)\n", lambda _: table, text, count=1, flags=re.DOTALL)


FAULTS = """
## Faults

What the platform lacks, a job lacks, as on hardware: memory that cannot be locked ends jobs between nodes, a resource
without a device or a port without a link leaves an HCA out, and without any HCA NCCL falls back to TCP and succeeds.
A port is taken down by an annotation of its node, a JSON list of HCAs; ibstatus, NCCL's list of devices and bandwidth
follow:

    oc annotate node dgx02.ocp4.scale.ibm.com 'hpc.sim/ports-down=["mlx5_2"]'

Logs have NCCL's own network (NET/IB, NET/Socket) and no plugin. NCCL_ALGO, NCCL_P2P_LEVEL, NCCL_CROSS_NIC and the like
are printed and change nothing. Trees are written as one chain."""


PROGRAMS = "\nWhat other programs print: [performance-model-programs.md](performance-model-programs.md)."


def page() -> str:
    """Return docs/performance-model.md."""
    parts = [INTRODUCTION, "## The fit\n"]
    parts.append("| layout | sizes up to | latency, us | algorithm bandwidth, GB/s |\n|---|---|---|---|")
    for layout, curve in CURVES.items():
        parts += [f"| {layout} | {one.up_to:,} B | {one.latency_us:g} | {one.gb_s:g} |" for one in curve]
    parts.append("\nResiduals against the 52 figures of each table, |model / measured - 1|:\n")
    parts.append("| layout | median | worst |\n|---|---|---|")
    for layout, curve in CURVES.items():
        found = residuals(curve, paper.points(layout))
        parts.append(f"| {layout} | {median(found):.1%} | {max(found):.1%} |")
    parts.append(
        "\nSpread of repeats, as the tables have it between out of place and in place, cut at two deviations:\n"
    )
    heads = " | ".join(f"up to {size:,} B" for size in model.CLASSES)
    parts.append(f"| layout | {heads} | above |\n|---|---|---|---|")
    parts += [f"| {layout} | {' | '.join(f'{one:.1%}' for one in found)} |" for layout, found in model.SPREADS.items()]
    parts.append("\n| size | " + " | ".join(f"{name} measured, us | model, us" for name in CURVES) + " |")
    parts.append("|---|" + "---|" * 2 * len(CURVES))
    for index in range(len(paper.TABLES["1x8"])):
        size = paper.SMALLEST << index
        cells = [
            f"{math.fsum(paper.TABLES[name][index]) / 2:,.1f} | {model.segment(CURVES[name], size).us(size):,.1f}"
            for name in CURVES
        ]
        parts.append(f"| {size:,} | " + " | ".join(cells) + " |")
    parts += ["\n" + effects(), FAULTS, PROGRAMS]
    return "\n".join(parts) + "\n"


def effects() -> str:
    """Return the figures that are from elsewhere, as a table."""
    rows = [f"| {one.name} | {one.value:g} | {one.meaning} | {one.source} |" for one in model.EFFECTS]
    return "\n".join(("## Effects\n", "| effect | figure | of what | source |\n|---|---|---|---|", *rows))


def main() -> None:
    """Write the data, then, with it, the page."""
    if sys.argv[1:] != ["page"]:
        DATA.write_text(data({layout: fitted(paper.points(layout)) for layout in paper.TABLES}))
        # The page shows what is imported, and this process has the old curves.
        subprocess.run([sys.executable, "-m", "simulator.performance.fit", "page"], check=True)
        return
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
