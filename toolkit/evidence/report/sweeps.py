"""Figures against message size: the tables of nccl-tests, by test and layout."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, NamedTuple

from toolkit.evidence.report.points import Limit, Point
from toolkit.evidence.report.redpaper import curve, limits
from toolkit.evidence.tools.nccl_tests.model import Figures, NcclTests
from toolkit.evidence.verdict import Job, Request

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
