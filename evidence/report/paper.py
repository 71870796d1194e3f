"""What the source documents measured, and what the criteria ask, as a report draws it."""

from collections.abc import Iterator

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


def rates(asked: Asked) -> tuple[tuple[Shape, float], ...]:
    """Return the documents' rates of a program on the same machines and with pods of the same kind, images/s."""
    single = asked.shape is not None and asked.shape.gpus == 1
    return tuple(
        (one.shape, one.images_per_s)
        for one in reference.RATES
        if (one.program, one.profile) == (asked.program, asked.profile)
        and asked.fabric in {None, one.fabric}
        and not one.per_rank
        and (one.shape.gpus == 1) == single
    )
