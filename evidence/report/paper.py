"""What the source documents measured, and what the criteria ask, as a report draws it."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from evidence import reference
from evidence.criteria import speed
from evidence.report.units import Limit, Point
from evidence.verdict import Asked, Shape

_TEST = "all_reduce"


def curve(asked: Asked, test: str) -> tuple[Point, ...]:
    """Return the documents' out-of-place curve of a primitive, on the machine and layout asked for; empty: none."""
    run = reference.all_reduce(asked.profile, asked.fabric, asked.shape) if test == _TEST else None
    if run is None:
        return ()
    return tuple(Point(row.bytes, row.out_of_place.time_us, row.out_of_place.busbw_gb_s) for row in run.rows)


def limits(asked: Asked, test: str) -> tuple[Limit, ...]:
    """Return the limits that a sweep is judged by, of evidence.criteria; none where the documents give no number."""
    run = speed.own_run(asked) if test == _TEST else None
    return tuple(_limits(run)) if run is not None else ()


def _limits(run: reference.AllReduceRun) -> Iterator[Limit]:
    yield Limit("time", "most", run.rows[0].bytes, speed.small_bytes(run), speed.SMALL_US)
    large = run.row(speed.LARGE_BYTES)
    if large is not None:
        value = speed.SHARE * large.out_of_place.busbw_gb_s
        yield Limit("busbw", "least", speed.LARGE_BYTES, speed.LARGE_BYTES, value)


class Figure(NamedTuple):
    """A rate, or a run time, of a layout."""

    shape: Shape
    value: float


TIMED = frozenset(one.program for one in reference.ELAPSED)
"""Programs that the documents compare by their run time."""


def figures(asked: Asked, unit: Literal["images/s", "s"]) -> tuple[Figure, ...]:
    """Return the documents' figures of a program on the same machines and with pods of the same kind."""
    single = asked.shape is not None and asked.shape.gpus == 1
    found = [(one, one.images_per_s) for one in reference.RATES if not one.per_rank] if unit == "images/s" else []
    timed = [(one, one.seconds) for one in reference.ELAPSED] if unit == "s" else []
    return tuple(
        Figure(one.shape, value)
        for one, value in (*found, *timed)
        if (one.program, one.profile) == (asked.program, asked.profile)
        and asked.fabric in {None, one.fabric}
        and (one.shape.gpus == 1) == single
    )
