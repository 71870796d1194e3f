"""The minutes of MLPerf Training v0.6 that a run is compared with."""

from collections.abc import Mapping

from hardware.measured import submission
from hardware.measured.mlperf import Benchmark

_NAMES: Mapping[str, Benchmark] = {
    "mask-rcnn": "maskrcnn",
    "mask_rcnn": "maskrcnn",
    "maskrcnn": "maskrcnn",
    "ssd": "ssd",
    "gnmt": "gnmt",
    "transformer": "transformer",
}
"""Programs of the catalogue, and what logs of MLPerf call them -> column of the table."""


def benchmark(name: str) -> Benchmark | None:
    """Return the benchmark that a program of docs/programs.md is, or that a log names; None: it is none of the four."""
    return _NAMES.get(name)


def published_minutes(name: str) -> float | None:
    """Return the minutes that document S compares a benchmark of its own with; None: it is none of its four.

    `name` is a program of docs/programs.md, or what a log calls it.
    """
    known = benchmark(name)
    return submission().minutes[known] if known is not None else None
