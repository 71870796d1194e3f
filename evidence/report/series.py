"""What is drawn: the figures of a run, by job and layout."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, NamedTuple

from evidence.model import Reading
from evidence.report.paper import curve, limits, rates
from evidence.report.units import Limit, Measure, Point
from evidence.report.words import size
from evidence.tools.horovod_synthetic import HorovodSynthetic
from evidence.tools.nccl_tests.model import Figures, NcclTests
from evidence.tools.tf_cnn_benchmarks import TfCnnBenchmarks
from evidence.verdict import Asked, Job, Shape

__all__ = ["Bar", "Bars", "Limit", "Measure", "Point", "Sweep", "nccl_bars", "rate_bars", "sweeps"]

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


class Bar(NamedTuple):
    """A rate with what it would be if it grew with the GPUs."""

    label: str
    value: float
    ideal: float | None
    measured: bool

    @property
    def efficiency(self) -> float | None:
        """Share of the ideal; None for the bar that the ideal is made of."""
        return self.value / self.ideal if self.ideal else None


@dataclass(frozen=True)
class Bars:
    """Bars that are compared: one program, and pods of one kind."""

    title: str
    unit: str
    bars: tuple[Bar, ...]
    note: str


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


def images_per_s(reading: Reading) -> float | None:
    """Return the rate of the whole job that a training tool printed; None for other tools, and where there is none."""
    return reading.total_images_per_s if isinstance(reading, TfCnnBenchmarks | HorovodSynthetic) else None


def job_rate(job: Job) -> float | None:
    """Return the median rate of a job's runs, images/s."""
    found = [rate for reading in job.readings if (rate := images_per_s(reading)) is not None]
    return median(found) if found else None


def rate_bars(jobs: Iterable[Job]) -> tuple[Bars, ...]:
    """Return the rates of training by GPUs, each program with its pods of one GPU and of several apart.

    The ideal is the smallest measured rate times the GPUs; where only one layout was measured, that of the paper's
    smallest, which is drawn beside it.
    """
    groups: dict[tuple[str, bool], list[tuple[Asked, Shape, float]]] = {}
    for job in jobs:
        rate, shape = job_rate(job), job.asked.shape
        if rate is not None and shape is not None:
            key = (job.asked.program or job.asked.job, shape.gpus == 1)
            groups.setdefault(key, []).append((job.asked, shape, rate))
    return tuple(
        _bars(program, [(shape, rate) for _, shape, rate in found], rates(found[0][0]), single=single)
        for (program, single), found in groups.items()
    )


def _bars(
    program: str, found: Sequence[tuple[Shape, float]], paper: Sequence[tuple[Shape, float]], *, single: bool
) -> Bars:
    here = len({shape for shape, _ in found}) > 1 or not paper
    base_shape, base = min(found if here else paper, key=lambda each: each[0].total)
    both = [*((shape, rate, True) for shape, rate in found), *((shape, rate, False) for shape, rate in paper)]
    bars = tuple(
        Bar(
            label=f"{shape}\n{'here' if measured else 'paper'}",
            value=rate,
            ideal=base / base_shape.total * shape.total if shape.total > base_shape.total else None,
            measured=measured,
        )
        for shape, rate, measured in sorted(both, key=lambda each: (each[0].total, each[2]))
    )
    kind = "pods of one GPU" if single else "pods of several GPUs"
    whose = "" if here else "the paper's "
    compared = any(bar.ideal is not None for bar in bars)
    note = f"Dashed: ideal, as many images per GPU as {whose}{base_shape}. Per cent: share of it." if compared else ""
    return Bars(f"{program}, {kind}", "images/s", bars, note)


def nccl_bars(found: Sequence[Sweep]) -> tuple[Bars, ...]:
    """Return the bus bandwidth of each test at the largest size of its layouts; the ideal is that of one node."""
    drawn = []
    for test in dict.fromkeys(one.test for one in found):
        same = [one for one in found if one.test == test and one.out_of_place and one.asked.shape]
        if len(same) < 2:  # noqa: PLR2004 - one bar compares nothing
            continue
        bars = tuple(Bar(one.layout, one.out_of_place[-1].busbw_gb_s, None, measured=True) for one in same)
        sizes = {size(one.out_of_place[-1].bytes) for one in same}
        note = f"At the largest message, {' and '.join(sorted(sizes))}, out-of-place."
        drawn.append(Bars(f"{test}, bus bandwidth by layout", "GB/s", bars, note))
    return tuple(drawn)
