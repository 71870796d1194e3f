"""All-reduce on the Redpaper's machines with EDR InfiniBand and GPUDirect: the Redpaper's three tables."""

import csv
from pathlib import Path
from statistics import fmean

from pydantic import Field

from core.model import Model


class Half(Model):
    """One half of a row of nccl-tests."""

    time_us: float
    algbw_gb_s: float
    busbw_gb_s: float
    error: float = Field(description="largest relative error of the result, as nccl-tests of 2020 prints it")


class AllReduceRow(Model):
    """One message size."""

    bytes: int
    out_of_place: Half
    in_place: Half


class AllReduceTable(Model):
    """One printed table: all_reduce_perf -b 8 -e 256M -f 2, float, sum."""

    source: str = Field(description="source id (docs/coverage/sources.md)")
    pods: int
    gpus: int = Field(description="of a pod")
    nodes: int
    rows: tuple[AllReduceRow, ...] = Field(description="by size, ascending")
    average_printed_gb_s: float | None = Field(description="average bus bandwidth; None: the paper prints no footer")

    @property
    def average_busbw_gb_s(self) -> float:
        """Return the mean of all bus bandwidths, out of place and in place, as nccl-tests averages them."""
        return fmean(half.busbw_gb_s for row in self.rows for half in (row.out_of_place, row.in_place))

    def row(self, size: int) -> AllReduceRow | None:
        """Return the row of a message size in bytes."""
        return next((row for row in self.rows if row.bytes == size), None)


def _half(row: dict[str, str], side: str) -> Half:
    return Half(
        time_us=float(row[f"{side}_us"]),
        algbw_gb_s=float(row[f"{side}_algbw"]),
        busbw_gb_s=float(row[f"{side}_busbw"]),
        error=float(row[f"{side}_error"]),
    )


def _table(source: str, pods: int, gpus: int, nodes: int, printed: float | None = None) -> AllReduceTable:
    with (Path(__file__).parent / f"all-reduce-{pods:02}x{gpus:02}.csv").open(encoding="utf-8", newline="") as file:
        rows = tuple(
            AllReduceRow(
                bytes=int(row["bytes"]), out_of_place=_half(row, "out_of_place"), in_place=_half(row, "in_place")
            )
            for row in csv.DictReader(file)
        )
    return AllReduceTable(source=source, pods=pods, gpus=gpus, nodes=nodes, rows=rows, average_printed_gb_s=printed)


ALL_REDUCE: tuple[AllReduceTable, ...] = (
    _table(source="R-4.4-4", pods=1, gpus=8, nodes=1),
    _table(source="R-4.4-8", pods=2, gpus=8, nodes=2, printed=12.3088),
    _table(source="R-4.4-13", pods=16, gpus=1, nodes=2),
)
"""Tables 4-1 to 4-3: one process with 8 GPUs, two of them on two nodes, sixteen pods of one GPU on two nodes."""
