"""What a run of nccl-tests measured."""

from collections.abc import Mapping
from typing import Literal

from pydantic import ConfigDict, Field

from core.model import Model
from toolkit.evidence.model import Reading, Record, Unread


class Spread(Model):
    """How the iterations of one size differ: the columns i_min, i_max, i_p99, i_cv%."""

    min_us: float
    max_us: float
    p99_us: float
    variation_percent: float = Field(description="standard deviation as a share of the mean")


class Figures(Model):
    """One size, out of place or in place."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")

    time_us: float = Field(description="of one operation")
    algbw_gb_s: float = Field(description="bytes / time, 10^9 bytes a second")
    busbw_gb_s: float = Field(description="algbw times the primitive's bus factor: what a link carried")
    wrong: int | None = Field(default=None, description="wrong elements; None: N/A, or an old version (see error)")
    error: float | None = Field(
        default=None, description="largest relative error, as versions before 2.13 print it; None: N/A, or newer"
    )
    spread: Spread | None = Field(default=None, description="None: not requested")


class Row(Record):
    """One line of the table: one message size."""

    bytes: int = Field(ge=0, description="size of the larger of a rank's two buffers")
    count: int = Field(ge=0, description="elements that the call is given")
    type: str
    redop: str | None = Field(default=None, description="sum, ...; None: the primitive has none")
    root: int | None = Field(default=None, description="rank of the root; -1: none; None: no such column")
    out_of_place: Figures
    in_place: Figures | None = Field(default=None, description="None: the table has one half only")


class Contradiction(Model):
    """A row whose own figures cannot all be right: digits are lost, or lines were mixed. It is in no other list."""

    row: Row
    why: str


class Device(Record):
    """One rank and its GPU, from `# Using devices`."""

    rank: int = Field(ge=0)
    group: int = Field(default=0, ge=0, description="communicator, where NCCL_TESTS_SPLIT makes several")
    pid: int
    host: str
    device: int = Field(ge=0, description="CUDA index on its host")
    bus_id: str = Field(description="PCI address as printed: 0x06 by old versions, 0000:06:00 by new ones")
    name: str = Field(description="of the GPU")


class Settings(Model):
    """The line `# nThread ...`: what the run was to do. None: not printed by this version."""

    threads: int
    gpus: int = Field(description="of each thread")
    min_bytes: int
    max_bytes: int
    step: int
    step_is: Literal["factor", "bytes"]
    warmup_iters: int
    iters: int
    agg_iters: int | None = None
    validation: int | None = Field(default=None, description="0: results are not checked, and wrong is N/A")
    graph: int | None = Field(default=None, description="launches of a CUDA graph; 0: none")
    unalign: int | None = None


class NcclTests(Reading):
    """One run of one program of nccl-tests, from its table or its JSON file."""

    test: str | None = Field(description="primitive, e.g. all_reduce; None: not printed, and could not be inferred")
    test_from: Literal["printed", "command", "inferred"] | None = Field(description="how it is known")
    bus_factor: float | None = Field(description="busbw / algbw; None: unknown test and no one factor fits all rows")
    nccl_headers: str | None = Field(default=None, description="version of NCCL that it was built with")
    nccl_library: str | None = Field(default=None, description="version of NCCL that it ran with")
    settings: Settings | None = Field(description="None: the line is not there")
    reduced_max_bytes: int | None = Field(default=None, description="largest size after `Reducing maxBytes`")
    ranks: int | None = Field(description="GPUs of all groups together; None: not printed")
    group_ranks: int | None = Field(description="ranks of the communicator that the table is about")
    groups: int = Field(default=1, description="communicators side by side")
    hosts: tuple[str, ...] = Field(description="in order of their first ranks")
    devices: tuple[Device, ...] = Field(description="ranks in the order printed; in JSON files one of each process")
    rows: tuple[Row, ...]
    missing_bytes: tuple[int, ...] = Field(description="sizes that were to come and are in no row; at most 1000")
    contradictions: tuple[Contradiction, ...] = Field(default=())
    average_busbw_gb_s: float | None = Field(description="as printed; None: the footer is not there")
    average_recomputed_gb_s: float | None = Field(description="mean busbw of all rows, both halves; None: no rows")
    average_agrees: bool | None = Field(description="whether the two are the same within rounding")
    minimum_met: bool | None = Field(
        default=None, description="OK or FAILED behind the average: NCCL_TESTS_MIN_BW; None: no minimum was set"
    )
    out_of_bounds: int | None = Field(description="sizes with wrong results; None: the footer is not there")
    failures: tuple[Unread, ...] = Field(default=(), description="lines in which the program reports a failure")
    environment: Mapping[str, str] = Field(default={}, description="NCCL_* variables of the JSON file; empty: a table")

    def _figures(self) -> str:
        if not self.rows:
            return self.test or ""
        largest, average = self.rows[-1], self.average_busbw_gb_s
        return (
            f"{self.test or 'unknown test'}, {len(self.rows)} sizes, {largest.out_of_place.busbw_gb_s:g} GB/s at "
            f"{largest.bytes} B{f', average {average:g}' if average is not None else ''}"
        )
