"""Figures against message size: the tables of nccl-tests, by job and layout."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

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


def labels(same: Sequence[Sweep]) -> list[str]:
    """Return a name for each sweep: its layout, or its job where several have that layout."""
    layouts = [each.layout for each in same]
    return [each.layout if layouts.count(each.layout) == 1 else each.job.rpartition("/")[2] for each in same]


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
            if figures is not None:
                by_size.setdefault(row.bytes, []).append(figures)
    return tuple(
        Point(count, median(one.time_us for one in each), median(one.busbw_gb_s for one in each))
        for count, each in sorted(by_size.items())
    )
