"""The Redpaper's measurements of all-reduce on DGX-1, EDR InfiniBand with GPUDirect: microseconds by message size.

Each row has the times of the size out of place and in place; sizes are 8 B to 256 MiB, each twice the one before.
"""

from collections.abc import Mapping
from types import MappingProxyType

Row = tuple[float, float]

SMALLEST = 8
"""Bytes of the first row."""

ONE_NODE: tuple[Row, ...] = (
    (40.92, 44.5),
    (38.08, 40.94),
    (41.3, 39.27),
    (43.86, 38.48),
    (42.1, 43.15),
    (41.7, 43.8),
    (38.83, 44.29),
    (44.58, 45.88),
    (39.82, 46.95),
    (39.32, 42.1),
    (41.99, 39.79),
    (45.9, 43.01),
    (40.47, 44.78),
    (43.01, 41.39),
    (51.51, 47.67),
    (48.17, 47.02),
    (59.04, 60.19),
    (100.4, 99.56),
    (118.9, 119.6),
    (187.8, 183.7),
    (291, 287.4),
    (355.2, 352.5),
    (557.2, 553.3),
    (994.8, 987.4),
    (1862.1, 1863.6),
    (3671.2, 3637.3),
)
"""R-4.4-4, Table 4-1: one node, one process with 8 GPUs."""

TWO_NODES: tuple[Row, ...] = (
    (52.72, 50.09),
    (58.6, 49.8),
    (58.46, 61.82),
    (52.95, 50),
    (54.79, 60.03),
    (60.63, 51.02),
    (51.87, 51.36),
    (52.68, 51.93),
    (62.35, 49.45),
    (55.25, 58.66),
    (63.85, 58.16),
    (87.96, 78.23),
    (104.6, 100.1),
    (103.7, 107.4),
    (110.2, 110.4),
    (118.5, 119.4),
    (123.7, 144.1),
    (167.5, 159.4),
    (247.7, 241.3),
    (367.9, 376.4),
    (556.2, 512.2),
    (918.7, 907.6),
    (1594.9, 1557.2),
    (2950.1, 2954.5),
    (4777.7, 4781.1),
    (9115.8, 9115.3),
)
"""R-4.4-8, Table 4-2: two nodes, a process with 8 GPUs on each."""

SINGLE_GPUS: tuple[Row, ...] = (
    (78.92, 72.73),
    (72.27, 77.27),
    (73.74, 72.11),
    (82.74, 81.37),
    (83.59, 79.8),
    (78.04, 78.35),
    (78.49, 83.42),
    (88.29, 91.61),
    (107.5, 109.6),
    (121.4, 116.4),
    (122.8, 121.9),
    (143.3, 135.9),
    (152.4, 158.5),
    (193, 189.7),
    (233.7, 220),
    (313.7, 326.3),
    (594.7, 598.3),
    (754.3, 769.7),
    (1068.4, 1072.8),
    (1748.3, 1742.8),
    (2966.9, 2955.6),
    (5637.3, 5617.9),
    (11270, 11231),
    (22060, 22009),
    (44146, 43998),
    (88376, 88034),
)
"""R-4.4-13, Table 4-3: sixteen pods of one GPU on two nodes."""

TABLES: Mapping[str, tuple[Row, ...]] = MappingProxyType({"1x8": ONE_NODE, "2x8": TWO_NODES, "16x1": SINGLE_GPUS})
"""Layout as pods x GPUs -> rows."""


def points(layout: str) -> list[tuple[int, float]]:
    """Return size in bytes and time in microseconds of every figure of a table."""
    return [(SMALLEST << index, time) for index, row in enumerate(TABLES[layout]) for time in row]
