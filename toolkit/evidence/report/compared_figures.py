"""The figures of jobs that are compared between runs: mean times of nccl-tests by message size, rates, bandwidths."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import geometric_mean, median
from typing import Literal, NamedTuple

from toolkit.evidence.goodput.reading import Goodput
from toolkit.evidence.metrics import Metrics
from toolkit.evidence.report.bars import results
from toolkit.evidence.report.sweeps import nccl_runs
from toolkit.evidence.tools.mllog import MlLog
from toolkit.evidence.tools.perftest.model import Perftest
from toolkit.evidence.verdict import Job
from toolkit.evidence.wording import size

Better = Literal["more", "less"]
"""Which direction is better: more images/s, less seconds."""


def spread(values: Sequence[float]) -> float:
    """Return how far the farthest repeat is from the median, as a share of it; 0 for one repeat.

    The documents take the median of five. Raises ZeroDivisionError for a median of zero.
    """
    middle = median(values)
    return max(abs(value - middle) for value in values) / abs(middle) if len(values) > 1 else 0.0


def faster(measured: float, reference: float, better: Better) -> float:
    """Return by which share `measured` is faster than `reference`; negative: slower.

    Of times it is the share of the reference's time that is saved: 740 s against 1328 s is 0.443, and not the 0.557
    that the paper prints, which is the share that is left. Raises ZeroDivisionError for a reference of zero.
    """
    change = (measured - reference) / reference
    return change if better == "more" else -change


class Band(NamedTuple):
    """Message sizes with the same behaviour, so that their figures are one figure: their geometric mean.

    `noise`: what it may differ by from run to run where it was not repeated. Twice the largest difference between the
    two halves, out-of-place and in-place, of the paper's three tables, since runs differ more than the halves of one;
    twice is this project's choice. Halves differ by 6.0 %, 1.7 % and 1.5 %.
    """

    first: int
    last: int
    noise: float

    def __str__(self) -> str:
        """Return the sizes."""
        return f"{size(self.first)} to {size(self.last)}"


BANDS = (Band(1, 1 << 14, 0.12), Band((1 << 14) + 1, 1 << 20, 0.034), Band((1 << 20) + 1, 1 << 40, 0.030))
ROUNDING = 0.005
"""What figures of three digits may differ by and be the same: no noise is less."""
OTHER_NOISE = 0.02
"""Of rates and bandwidths without repeats: what a total may differ by from the sum of its ranks."""
_TABLES = (
    "mean times over a range of sizes: twice the largest difference between the out-of-place and in-place halves of "
    "the paper's tables"
)
_RATES = "rates and bandwidths: 2 %, by which a job's total may differ from the sum of its ranks"


class Figure(NamedTuple):
    """A figure in its repeats; `least` is best for a time. `noise` is assumed, by `noise_origin`, for few repeats."""

    values: tuple[float, ...]
    unit: str
    least: bool
    noise: float
    noise_origin: str


def tables(jobs: Sequence[Job]) -> Mapping[str, list[Mapping[int, float]]]:
    """Return the out-of-place times by size of each repeat of each test."""
    tables_by_test: dict[str, list[Mapping[int, float]]] = defaultdict(list)
    for job in jobs:
        for reading in nccl_runs(job):
            tables_by_test[reading.test or "nccl-tests"].append(
                {row.bytes: time for row in reading.rows if 0 < (time := row.out_of_place.time_us) < math.inf}
            )
    return tables_by_test


def figure_of(band: Band, repeat_tables: Sequence[Mapping[int, float]], sizes: Sequence[int]) -> Figure:
    """Return the mean time of some sizes, of each table."""
    values = tuple(geometric_mean([table[count] for count in sizes]) for table in repeat_tables)
    return Figure(values, "µs", True, band.noise, _TABLES)


def name_of(test: str, sizes: Sequence[int]) -> str:
    """Return what a mean time of sizes is called."""
    return f"{test}, mean time of {Band(sizes[0], sizes[-1], 0)}"


def figures(jobs: Sequence[Job]) -> Mapping[str, Figure]:
    """Return rates, run times, bandwidths and users' own metrics of repeats of a job, by what they are called."""
    values_by_figure: dict[tuple[str, str, bool], list[float]] = defaultdict(list)
    for job in jobs:
        lower = {metric.name for metric in job.request.metrics if metric.better == "lower"}
        values, kind = results(job)
        if values:
            values_by_figure["training", kind, kind == "s"] += values
        for reading in job.readings:
            if isinstance(reading, MlLog) and reading.minutes is not None:
                values_by_figure[f"{reading.benchmark or 'benchmark'} to its target", "min", True].append(
                    reading.minutes
                )
            if isinstance(reading, Perftest):
                for what, unit, least, value in _of_perftest(reading):
                    values_by_figure[what, unit, least].append(value)
            if isinstance(reading, Goodput) and reading.of_wall is not None:
                values_by_figure["goodput", "%", False].append(100 * reading.of_wall)
            if isinstance(reading, Metrics):
                for row in reading.rows:
                    if row.figure is not None:
                        values_by_figure[row.name, row.unit, row.name in lower].append(row.figure)
    return {
        what: Figure(tuple(values), unit, least, OTHER_NOISE, _RATES)
        for (what, unit, least), values in values_by_figure.items()
        if all(map(math.isfinite, values))
    }


def _of_perftest(reading: Perftest) -> Iterator[tuple[str, str, bool, float]]:
    name = " ".join(word for word in (reading.program or reading.tool, reading.device, reading.role) if word)
    if reading.bandwidth:
        row = reading.bandwidth[-1]
        yield f"{name}, {size(row.bytes)}", "MB/s", False, row.average_mb_s
    if reading.latency and (typical := reading.latency[0].typical_us) is not None:
        yield f"{name}, {size(reading.latency[0].bytes)}", "µs", True, typical
