"""All-reduce and RDMA between two DGX-1 over EDR InfiniBand, of the Redpaper."""

import csv
from pathlib import Path
from statistics import fmean

from pydantic import Field

from apis.nccl import Transport
from evidence.verdict import Fabric, Shape
from hardware.model import Model
from hardware.profiles import DGX1_V100_16GB


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


class AllReduceRun(Model):
    """One printed table: all_reduce_perf -b 8 -e 256M -f 2, float, sum."""

    source: str = Field(description="inventory id")
    profile: str
    fabric: Fabric
    shape: Shape
    transport: Transport | None = Field(description="that the job asked for between nodes; None: one node")
    rows: tuple[AllReduceRow, ...] = Field(description="by size, ascending")
    average_printed_gb_s: float | None = Field(description="average bus bandwidth; None: the paper prints no footer")

    @property
    def average_busbw_gb_s(self) -> float:
        """Return the mean of all bus bandwidths, out of place and in place, as nccl-tests averages them."""
        return fmean(half.busbw_gb_s for row in self.rows for half in (row.out_of_place, row.in_place))

    def row(self, size: int) -> AllReduceRow | None:
        """Return the row of a message size in bytes."""
        return next((row for row in self.rows if row.bytes == size), None)


def _table(shape: Shape) -> tuple[AllReduceRow, ...]:
    def half(row: dict[str, str], side: str) -> Half:
        return Half(
            time_us=float(row[f"{side}_us"]),
            algbw_gb_s=float(row[f"{side}_algbw"]),
            busbw_gb_s=float(row[f"{side}_busbw"]),
            error=float(row[f"{side}_error"]),
        )

    with (Path(__file__).parent / f"all-reduce-{shape}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            AllReduceRow(
                bytes=int(row["bytes"]), out_of_place=half(row, "out_of_place"), in_place=half(row, "in_place")
            )
            for row in csv.DictReader(file)
        )


def _run(source: str, pods: int, gpus: int, transport: Transport | None, printed: float | None) -> AllReduceRun:
    shape = Shape(pods=pods, gpus=gpus)
    return AllReduceRun(
        source=source,
        profile=DGX1_V100_16GB.name,
        fabric="infiniband",
        shape=shape,
        transport=transport,
        rows=_table(shape),
        average_printed_gb_s=printed,
    )


ALL_REDUCE: tuple[AllReduceRun, ...] = (
    _run("R-4.4-4", 1, 8, None, None),
    _run("R-4.4-8", 2, 8, Transport.GPUDIRECT, 12.3088),
    _run("R-4.4-13", 16, 1, Transport.GPUDIRECT, None),
)
"""By nodes; both runs over two nodes ask for GPUDirect to the GPU's own HCA (R-4.4-7, R-4.4-11)."""


def all_reduce(profile: str | None, fabric: Fabric | None, shape: Shape | None) -> AllReduceRun | None:
    """Return the run of exactly these; a fabric of None is any. None: the documents have no such run."""
    return next(
        (run for run in ALL_REDUCE if run.profile == profile and fabric in (None, run.fabric) and run.shape == shape),
        None,
    )


class RdmaWrite(Model):
    """A result of ib_write_bw."""

    source: str
    profile: str
    fabric: Fabric
    bytes: int
    iterations: int
    peak_mb_s: float
    average_mb_s: float
    message_rate_mpps: float
    least_mb_s: float = Field(description="average that the document asks of one link")


RDMA_WRITE = RdmaWrite(
    source="R-4.1-8",
    profile=DGX1_V100_16GB.name,
    fabric="infiniband",
    bytes=65536,
    iterations=5000,
    peak_mb_s=11300.40,
    average_mb_s=11264.11,
    message_rate_mpps=0.180226,
    least_mb_s=11_000,
)
"""One EDR link between the two DGX-1, HCA mlx5_1."""
