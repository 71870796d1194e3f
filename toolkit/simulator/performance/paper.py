"""The Redpaper's times of all-reduce, as the model is fitted to them: microseconds by message size.

Each row has the times of a size out of place and in place; sizes are 8 B to 256 MiB, each twice the one before.
"""

from collections.abc import Mapping
from types import MappingProxyType

from core.hardware.measured import ALL_REDUCE

Row = tuple[float, float]

SMALLEST = ALL_REDUCE[0].rows[0].bytes
"""Bytes of the first row."""
TABLES: Mapping[str, tuple[Row, ...]] = MappingProxyType(
    {
        f"{table.pods}x{table.gpus}": tuple((row.out_of_place.time_us, row.in_place.time_us) for row in table.rows)
        for table in ALL_REDUCE
    }
)
"""Layout as pods x GPUs -> rows."""


def points(layout: str) -> list[tuple[int, float]]:
    """Return size in bytes and time in microseconds of every figure of a table."""
    return [(SMALLEST << index, time) for index, row in enumerate(TABLES[layout]) for time in row]
