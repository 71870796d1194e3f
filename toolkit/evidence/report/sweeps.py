"""Figures against message size: the tables of nccl-tests, by test and layout, beside what the documents measured."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, NamedTuple

from toolkit.evidence import reference
from toolkit.evidence.tools.nccl_tests import speed
from toolkit.evidence.tools.nccl_tests.model import Figures, NcclTests
from toolkit.evidence.verdict import Job, Request

Measure = Literal["time", "busbw"]


class Point(NamedTuple):
    """One message size."""

    bytes: int
    time_us: float
    busbw_gb_s: float

    def value(self, measure: Measure) -> float:
        """Return what is drawn."""
        return self.time_us if measure == "time" else self.busbw_gb_s


class Limit(NamedTuple):
    """A limit over the sizes from `first` to `last`."""

    measure: Measure
    kind: Literal["most", "least"]
    first: int
    last: int
    value: float


_TEST = "all_reduce"


def curve(request: Request, test: str) -> tuple[Point, ...]:
    """Return the documents' out-of-place curve of a primitive, on the requested machine and layout; empty: none."""
    run = reference.all_reduce(request.profile, request.fabric, request.shape) if test == _TEST else None
    if run is None:
        return ()
    return tuple(Point(row.bytes, row.out_of_place.time_us, row.out_of_place.busbw_gb_s) for row in run.rows)


def limits(request: Request, test: str) -> tuple[Limit, ...]:
    """Return the limits that a sweep is judged by, of `criteria`; none where the documents give no number."""
    run = speed.own_run(request) if test == _TEST else None
    return tuple(_limits(run)) if run is not None else ()


def _limits(run: reference.AllReduceRun) -> Iterator[Limit]:
    yield Limit("time", "most", run.rows[0].bytes, speed.small_bytes(run), speed.SMALL_US)
    large = run.row(speed.LARGE_BYTES)
    if large is not None:
        value = speed.SHARE * large.out_of_place.busbw_gb_s
        yield Limit("busbw", "least", speed.LARGE_BYTES, speed.LARGE_BYTES, value)


TIMED = frozenset(training.program for training in reference.ELAPSED)
"""Programs that the documents compare by their run time."""


def figures(request: Request, unit: Literal["images/s", "s"]) -> tuple[reference.Training, ...]:
    """Return the documents' figures of a program on the same machines and with pods of the same kind."""
    single = request.shape is not None and request.shape.gpus == 1
    trainings = reference.trainings(reference.RATES if unit == "images/s" else reference.ELAPSED, request)
    return tuple(training for training in trainings if (training.shape.gpus == 1) == single)


Half = Literal["out_of_place", "in_place"]


@dataclass(frozen=True)
class Sweep:
    """One primitive on one layout, over its message sizes; of several tables each size's median."""

    jobs: tuple[str, ...]
    test: str
    layout: str
    """Pods x GPUs, or what else identifies it; with transport and machine where one layout has several."""
    request: Request
    ranks: int | None
    runs: tuple[tuple[Point, ...], ...]
    """Each table's out-of-place figures."""
    out_of_place: tuple[Point, ...]
    in_place: tuple[Point, ...]
    paper: tuple[Point, ...]
    limits: tuple[Limit, ...]

    @property
    def title(self) -> str:
        """Primitive and layout."""
        return f"{self.test}, {self.layout}"


def nccl_runs(job: Job) -> Iterator[NcclTests]:
    """Yield the tables of a job."""
    return (reading for reading in job.readings if isinstance(reading, NcclTests) and reading.rows)


class _Key(NamedTuple):
    """What tables that are repeats of each other have in common, whichever job each is of."""

    test: str
    layout: str
    transport: str
    profile: str
    fabric: str


def sweeps(jobs: Iterable[Job]) -> tuple[Sweep, ...]:
    """Return the sweeps of a run's jobs, in their order; the tables of one test on one layout are its repeats."""
    groups: dict[_Key, list[tuple[Request, NcclTests]]] = {}
    for job in jobs:
        request = job.request
        about = (request.shape or request.job, request.transport, request.profile, request.fabric)
        for reading in nccl_runs(job):
            key = _Key(reading.test or "nccl-tests", *(str(part or "") for part in about))
            groups.setdefault(key, []).append((request, reading))
    return tuple(_sweep(key, _name(key, list(groups)), tables) for key, tables in groups.items())


def _name(key: _Key, keys: Sequence[_Key]) -> str:
    """Return the layout, with what distinguishes it from others of the same test."""
    same = [other for other in keys if (other.test, other.layout) == (key.test, key.layout)]
    differs = [place for place in (2, 3, 4) if len({other[place] for other in same}) > 1]
    return " ".join([key.layout, *(key[place] or "any" for place in differs)])


def _sweep(key: _Key, layout: str, repeats: Sequence[tuple[Request, NcclTests]]) -> Sweep:
    request = repeats[0][0]
    tables = [table for _, table in repeats]
    return Sweep(
        jobs=tuple(dict.fromkeys(job_request.job for job_request, _ in repeats)),
        test=key.test,
        layout=layout,
        request=request,
        ranks=tables[0].ranks,
        runs=tuple(_points([table], "out_of_place") for table in tables),
        out_of_place=_points(tables, "out_of_place"),
        in_place=_points(tables, "in_place"),
        paper=curve(request, key.test),
        limits=limits(request, key.test),
    )


def _points(runs: Sequence[NcclTests], half: Half) -> tuple[Point, ...]:
    by_size: dict[int, list[Figures]] = {}
    for run in runs:
        for row in run.rows:
            figures: Figures | None = getattr(row, half)
            # What no axis can show: a size of 0, and the inf or nan of a time that was printed as 0.
            if figures is not None and row.bytes and math.isfinite(figures.time_us + figures.busbw_gb_s):
                by_size.setdefault(row.bytes, []).append(figures)
    return tuple(
        Point(count, median(repeat.time_us for repeat in repeats), median(repeat.busbw_gb_s for repeat in repeats))
        for count, repeats in sorted(by_size.items())
    )
