"""What the source documents measured, and what the criteria ask, as a report draws it."""

from collections.abc import Iterator
from typing import Literal

from toolkit.evidence import reference
from toolkit.evidence.report.points import Limit, Point
from toolkit.evidence.tools.nccl_tests import speed
from toolkit.evidence.verdict import Request

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
