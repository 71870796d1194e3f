"""How benchmarks take figures by processor time, judge each by its goal, and print how figures grow with a size."""

import math
import os
import resource
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from toolkit.cli.shared.console import console


def judge(title: str, value: float, limit: float, *, least: bool = False) -> bool:
    """Print a figure with its goal, the most or the `least` that it may be; return whether it reaches the goal."""
    reached = value >= limit if least else value <= limit
    word, sign = "reaches" if reached else "MISSES", ">=" if least else "<="
    console.print(f"  {title:52} {value:8.2f}  {word} the goal of {sign} {limit:g}")
    return reached


def print_machine() -> None:
    """Print what else the figures depend on: CPUs, and how busy they were."""
    console.print(f"measured on {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the end")


@dataclass(frozen=True)
class Run:
    """One process with its children: processor time in seconds, and its output."""

    cpu: float
    output: bytes


def run(*command: str | Path) -> Run:
    """Run a command to its end; one that fails raises CalledProcessError."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Run(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout)


Series = Mapping[int, float]
"""Figures by size."""


_NOISE = 0.05
"""Part of the largest figure that a rise must be, to be one."""


def exponent(series: Series) -> float | None:
    """Return e of size**e through the logarithms of a series, by least squares; None for fewer than two sizes."""
    points = [(math.log(size), math.log(value)) for size, value in series.items() if size > 0 and value > 0]
    if len(points) < 2:  # noqa: PLR2004 - a line through one point is any
        return None
    middle = [sum(coordinates) / len(points) for coordinates in zip(*points, strict=True)]
    spread = math.fsum((x - middle[0]) ** 2 for x, _ in points)
    return math.fsum((x - middle[0]) * (y - middle[1]) for x, y in points) / spread


def marginal(series: Series) -> float | None:
    """Return what one more costs between the two largest sizes over what it costs before; 1 is a straight line.

    Costs that every size has, such as the start of an interpreter, fall out. None for fewer than three sizes, and
    where the first rise is lost in noise.
    """
    sizes = sorted(series)
    if len(sizes) < 3:  # noqa: PLR2004
        return None
    first, middle, last = sizes[0], sizes[-2], sizes[-1]
    rise = series[middle] - series[first]
    if rise < series[last] * _NOISE:
        return None
    return (series[last] - series[middle]) / (last - middle) * (middle - first) / rise


def table(title: str, by: str, columns: Mapping[str, Series], digits: int = 2) -> Table:
    """Return series side by side, a row for each size, and how each grows below."""
    made = Table(title=title, title_justify="left")
    for heading in (by, *columns):
        made.add_column(heading, justify="right")
    sizes = sorted({size for series in columns.values() for size in series})
    for size in sizes:
        made.add_row(str(size), *(_figure(series.get(size), digits) for series in columns.values()))
    made.add_section()
    made.add_row("exponent", *(_figure(exponent(series), 2) for series in columns.values()))
    made.add_row("slope, last/before", *(_figure(marginal(series), 2) for series in columns.values()))
    return made


def _figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
