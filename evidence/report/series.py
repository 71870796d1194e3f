"""Figures against message size: the tables of nccl-tests, by job and layout."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, NamedTuple

from evidence.report.paper import curve, limits
from evidence.report.units import Limit, Point
from evidence.tools.nccl_tests.model import Figures, NcclTests
from evidence.verdict import Asked, Job

Half = Literal["out_of_place", "in_place"]


@dataclass(frozen=True)
class Sweep:
    """One primitive on one layout, over its message sizes; of several repeats each size's median."""

    job: str
    test: str
    asked: Asked
    ranks: int | None
    repeats: int
    out_of_place: tuple[Point, ...]
    in_place: tuple[Point, ...]
    paper: tuple[Point, ...]
    limits: tuple[Limit, ...]

    @property
    def layout(self) -> str:
        """Pods x GPUs, or what else tells it apart."""
        return str(self.asked.shape) if self.asked.shape else self.job

    @property
    def title(self) -> str:
        """Primitive and layout."""
        return f"{self.test}, {self.layout}"


def nccl_runs(job: Job) -> Iterator[NcclTests]:
    """Yield the tables of a job."""
    return (reading for reading in job.readings if isinstance(reading, NcclTests) and reading.rows)


def sweeps(jobs: Iterable[Job]) -> tuple[Sweep, ...]:
    """Return the sweeps of a run's jobs, in their order; the tables of one test in one job are its repeats."""
    found = []
    for job in jobs:
        tables: dict[str, list[NcclTests]] = {}
        for reading in nccl_runs(job):
            tables.setdefault(reading.test or "nccl-tests", []).append(reading)
        for test, runs in tables.items():
            found.append(
                Sweep(
                    job=job.asked.job,
                    test=test,
                    asked=job.asked,
                    ranks=runs[0].ranks,
                    repeats=len(runs),
                    out_of_place=_points(runs, "out_of_place"),
                    in_place=_points(runs, "in_place"),
                    paper=curve(job.asked, test),
                    limits=limits(job.asked, test),
                )
            )
    return tuple(found)


def _points(runs: Sequence[NcclTests], half: Half) -> tuple[Point, ...]:
    by_size: dict[int, list[Figures]] = {}
    for run in runs:
        for row in run.rows:
            figures: Figures | None = getattr(row, half)
            # What no axis can show: a size of 0, and the inf or nan of a time that was printed as 0.
            if figures is not None and row.bytes and math.isfinite(figures.time_us + figures.busbw_gb_s):
                by_size.setdefault(row.bytes, []).append(figures)
    return tuple(
        Point(count, median(one.time_us for one in each), median(one.busbw_gb_s for one in each))
        for count, each in sorted(by_size.items())
    )


class Layout(NamedTuple):
    """All jobs of one test on one layout with one transport: of each size their median, out-of-place."""

    name: str
    points: tuple[Point, ...]
    jobs: int


def by_layout(same: Sequence[Sweep]) -> tuple[Layout, ...]:
    """Return the sweeps of one test by layout, and by transport where one layout has several."""
    groups: dict[tuple[str, str], list[Sweep]] = {}
    for each in same:
        groups.setdefault((each.layout, str(each.asked.transport or "")), []).append(each)
    layouts = [layout for layout, _ in groups]
    return tuple(
        Layout(f"{layout} {transport}" if layouts.count(layout) > 1 else layout, _median(each), len(each))
        for (layout, transport), each in groups.items()
    )


def _median(same: Sequence[Sweep]) -> tuple[Point, ...]:
    by_size: dict[int, list[Point]] = {}
    for point in (point for each in same for point in each.out_of_place):
        by_size.setdefault(point.bytes, []).append(point)
    return tuple(
        Point(count, median(one.time_us for one in each), median(one.busbw_gb_s for one in each))
        for count, each in sorted(by_size.items())
    )
