"""Figures by layout: rates and run times of training with the ideal, and bus bandwidth."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, NamedTuple

from toolkit.evidence.model import Reading
from toolkit.evidence.report.sweeps import TIMED, Sweep, figures
from toolkit.evidence.tools.deeplearningexamples import DeepLearningExamples
from toolkit.evidence.tools.horovod_synthetic import HorovodSynthetic
from toolkit.evidence.tools.tf_cnn_benchmarks import TfCnnBenchmarks
from toolkit.evidence.verdict import Ended, Job, Request, Shape
from toolkit.evidence.wording import size

Unit = Literal["images/s", "s"]


class Bar(NamedTuple):
    """A figure with what it would be if it followed the number of GPUs."""

    label: str
    value: float
    ideal: float | None
    measured: bool
    least: bool = False
    """Whether less is better."""

    @property
    def efficiency(self) -> float | None:
        """Share of the ideal; None for the bar that the ideal is made of."""
        if not self.ideal or not self.value:
            return None
        return self.ideal / self.value if self.least else self.value / self.ideal


@dataclass(frozen=True)
class Bars:
    """Bars that are compared: one program, and pods of one kind."""

    title: str
    unit: str
    bars: tuple[Bar, ...]
    note: str


def results(job: Job) -> tuple[Sequence[float], Unit]:
    """Return what training is measured by, of each repeat: rates, or run times where the documents compare these.

    A run time is by the stamps of the training's own log; without any, by the cluster's.
    """
    if job.request.program not in TIMED:
        return [rate for reading in job.readings if (rate := _images_per_s(reading)) is not None], "images/s"
    if job.ended is not Ended.SUCCEEDED:
        return [], "s"
    logs = [reading for reading in job.readings if isinstance(reading, DeepLearningExamples)]
    stamped = [log.elapsed_s for log in logs if log.elapsed_s is not None]
    return stamped or [seconds for seconds in (job.seconds,) if seconds is not None], "s"


def result(job: Job) -> tuple[float, Unit] | None:
    """Return the median of a job's repeats; None where there are none."""
    values, unit = results(job)
    return (median(values), unit) if values else None


def _images_per_s(reading: Reading) -> float | None:
    if isinstance(reading, TfCnnBenchmarks | HorovodSynthetic):
        return reading.total_images_per_s
    return reading.throughput_items_per_s if isinstance(reading, DeepLearningExamples) else None


class _Result(NamedTuple):
    request: Request
    shape: Shape
    value: float


def training_bars(jobs: Iterable[Job]) -> tuple[Bars, ...]:
    """Return rates and run times of training by GPUs, each program with its pods of one GPU and of several apart.

    The ideal follows from the smallest layout measured here; where only one was, from the paper's smallest, which is
    drawn beside it.
    """
    groups: dict[tuple[str, bool, Unit], list[_Result]] = {}
    for job in jobs:
        shape, result_of_job = job.request.shape, result(job)
        if shape is not None and result_of_job is not None:
            value, unit = result_of_job
            key = (job.request.program or job.request.job, shape.gpus == 1, unit)
            groups.setdefault(key, []).append(_Result(job.request, shape, value))
    return tuple(_bars(key, members) for key, members in groups.items())


def _bars(key: tuple[str, bool, Unit], members: Sequence[_Result]) -> Bars:
    program, single, unit = key
    here = [(member.shape, member.value) for member in members]
    paper = [(row.shape, row.figure) for row in figures(members[0].request, unit)]
    own = len({member.shape for member in members}) > 1 or not paper
    smallest, least = min(here if own else paper, key=lambda pair: pair[0].total)

    def ideal(shape: Shape) -> float | None:
        times = shape.total / smallest.total
        if times <= 1:
            return None
        return least / times if unit == "s" else least * times

    both = [*((*pair, True) for pair in here), *((*pair, False) for pair in paper)]
    bars = tuple(
        Bar(f"{shape}\n{'here' if measured else 'paper'}", value, ideal(shape), measured, unit == "s")
        for shape, value, measured in sorted(both, key=lambda triple: (triple[0].total, triple[2]))
    )
    kind = "pods of one GPU" if single else "pods of several GPUs"
    whose = "" if own else "the paper's "
    compared = any(bar.ideal is not None for bar in bars)
    note = f"Dashed: ideal scaling from {whose}{smallest}. Percentages: share of the ideal." if compared else ""
    return Bars(f"{program}, {kind}", unit, bars, note)


def nccl_bars(sweeps: Sequence[Sweep]) -> tuple[Bars, ...]:
    """Return the bus bandwidth of each test at the largest size of its layouts, beside the paper's; it has no ideal."""
    drawn = []
    for test in dict.fromkeys(sweep.test for sweep in sweeps):
        layouts = [
            sweep for sweep in sweeps if sweep.test == test and sweep.out_of_place and sweep.out_of_place[-1].busbw_gb_s
        ]
        bars = tuple(bar for sweep in layouts for bar in _at_largest(sweep))
        if len(bars) > 1:  # one compares nothing
            sizes = {size(sweep.out_of_place[-1].bytes) for sweep in layouts}
            several = ", median of several runs" if any(len(sweep.runs) > 1 for sweep in layouts) else ""
            note = f"At the largest message size, {' and '.join(sorted(sizes))}, out-of-place{several}."
            drawn.append(Bars(f"{test}, bus bandwidth by layout", "GB/s", bars, note))
    return tuple(drawn)


def _at_largest(sweep: Sweep) -> Iterable[Bar]:
    last, name = sweep.out_of_place[-1], sweep.layout.replace(" ", "\n")
    for point in sweep.paper:
        if point.bytes == last.bytes:
            yield Bar(f"{name}\npaper", point.busbw_gb_s, None, measured=False)
    yield Bar(f"{name}\nhere", last.busbw_gb_s, None, measured=True)
