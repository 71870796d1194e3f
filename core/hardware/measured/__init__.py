"""What the source documents measured, once: judged by in evidence, and what the simulated cluster is fitted to.

Tables are CSV files beside this module, as the documents print them; a test holds them against the printed logs.
"""

import csv
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Literal

from pydantic import Field

from core.data_files import read, validate
from core.model import Model


class _Machines(Model):
    redpaper: str
    supermicro: str


_MACHINES_FILE = Path(__file__).with_name("machines.yaml")
_NAMES = validate(_Machines, read(_MACHINES_FILE), _MACHINES_FILE)
REDPAPER_MACHINE = _NAMES.redpaper
SUPERMICRO_MACHINE = _NAMES.supermicro


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


_UNIT = "_us"
_COLLECTIVES_FILE = Path(__file__).with_name("collectives.yaml")


class MeasuredCollectives(Model):
    """Times of collectives on the GPUs of one machine, by message size."""

    gpus: int = Field(gt=0, description="of the machine, a rank each")
    nvlink_generation: int = Field(gt=0, description="of the links between them")
    nvlink_gbs: int = Field(gt=0, description="bandwidth of one GPU's links in GB/s, both directions together")
    table: str = Field(description="file of the times: a column of sizes in bytes, and one of microseconds for each")
    source: str = Field(description="machine, versions and date")

    @cached_property
    def times_us(self) -> Mapping[str, Mapping[int, float]]:
        """Collective, as nccl-tests calls its program -> bytes, as nccl-tests prints them -> median time, us."""
        with _COLLECTIVES_FILE.with_name(self.table).open(encoding="utf-8", newline="") as content:
            rows = list(csv.DictReader(content))
        names = [column.removesuffix(_UNIT) for column in rows[0] if column.endswith(_UNIT)]
        return {name: {int(row["bytes"]): float(row[f"{name}{_UNIT}"]) for row in rows} for name in names}


NVLINK_COLLECTIVES = validate(MeasuredCollectives, read(_COLLECTIVES_FILE), _COLLECTIVES_FILE)


class MeasuredGpu(Model):
    """Figures of one model of GPU."""

    gpu: str = Field(description="model, as nvidia-smi prints it")
    bf16_tflops: float = Field(gt=0, description="matrix product in bf16, 10^12 operations a second")
    most_mhz: int = Field(gt=0, description="highest clock, MHz, as nvidia-smi prints it")
    loaded_mhz: int = Field(gt=0, description="clock during that product, MHz: its power limit decides it")
    copy_gbs: float = Field(gt=0, description="copy within its memory, GB/s, bytes read and written")
    host_gbs: float = Field(gt=0, description="copy from or to pinned memory of the host, GB/s")
    link_gbs: float = Field(gt=0, description="one copy to another GPU of the machine, GB/s")
    share: float = Field(gt=0, le=1, description="of these, which is enough")
    host_share: float = Field(gt=0, le=1, description="of host_gbs, which is enough: it depends on the host's memory")
    source: str = Field(description="machine, versions and date")


class _Gpus(Model):
    gpus: tuple[MeasuredGpu, ...]


_GPUS_FILE = Path(__file__).with_name("gpus.yaml")
MEASURED_GPUS: Mapping[str, MeasuredGpu] = {row.gpu: row for row in validate(_Gpus, read(_GPUS_FILE), _GPUS_FILE).gpus}
"""By model."""


class RdmaWrite(Model):
    """A result of ib_write_bw; MB are of 2^20 bytes."""

    source: str
    profile: str
    fabric: Literal["infiniband"]
    bytes: int
    iterations: int
    peak_mb_s: float
    average_mb_s: float
    message_rate_mpps: float
    least_mb_s: float = Field(description="average that the document asks of one link: 92 Gb/s of 100")


RDMA_WRITE = RdmaWrite(
    source="R-4.1-8",
    profile=REDPAPER_MACHINE,
    fabric="infiniband",
    bytes=65536,
    iterations=5000,
    peak_mb_s=11300.40,
    average_mb_s=11264.11,
    message_rate_mpps=0.180226,
    least_mb_s=11_000,
)
"""HCA mlx5_1."""
