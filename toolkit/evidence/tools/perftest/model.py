"""What a run of a perftest program measured.

perftest's MB is 1,048,576 bytes and its Gb 125,000,000 bytes (`print_report_bw` of linux-rdma/perftest,
src/perftest_parameters.c). All figures here are in these MB, whatever unit was printed.
"""

from typing import Literal

from pydantic import Field

from core.model import Model
from toolkit.evidence.model import Reading, Record, Unread

MB_BYTES = 1 << 20
GB_PRINTED_BYTES = 125_000_000
"""Bytes of the Gb that --report_gbits prints: 10^9 bits."""

Unit = Literal["MB/s", "Gb/s"]


def as_mb(figure: float, unit: Unit) -> float:
    """Return a printed bandwidth in perftest's MB/s."""
    return figure if unit == "MB/s" else figure * GB_PRINTED_BYTES / MB_BYTES


class Bandwidth(Record):
    """One message size of a bandwidth test."""

    bytes: int = Field(ge=0)
    iterations: int = Field(ge=0)
    peak_mb_s: float | None = Field(description="MB of 2^20 bytes; None: 0.00, so not measured")
    average_mb_s: float = Field(description="MB of 2^20 bytes")
    message_rate_mpps: float | None = Field(description="10^6 messages a second; None: no such column")
    unit: Unit = Field(description="of the table")
    peak_printed: float = Field(description="in `unit`")
    average_printed: float = Field(description="in `unit`")
    service_level: int | None = None
    ports_average_mb_s: tuple[float, ...] = Field(default=(), description="of each port, with --report-per-port")
    cpu_percent: float | None = None


class Latency(Record):
    """One message size of a latency test."""

    bytes: int = Field(ge=0)
    iterations: int = Field(ge=0)
    min_us: float | None = Field(default=None, description="None: not printed (a test by duration)")
    max_us: float | None = None
    typical_us: float | None = Field(default=None, description="median")
    average_us: float | None = Field(default=None, description="None: versions before 5.8 do not print it")
    stdev_us: float | None = None
    p99_us: float | None = None
    p99_9_us: float | None = None
    per_second: float | None = Field(default=None, description="transactions, of a test by duration")
    cpu_percent: float | None = None


class Contradiction(Model):
    """A row whose bandwidth is not its message rate times its size: digits are lost. It is in no other list."""

    row: Bandwidth
    why: str


class End(Record):
    """One queue pair of one side."""

    lid: int = Field(description="0: none, so RoCE or rdma_cm")
    qpn: int
    psn: int
    gid: str | None = Field(default=None, description="as printed, 16 numbers; None: not printed")


class CpuFrequency(Record):
    """The warning that core frequencies differ: harmless for bandwidth; latencies in us may be off by their ratio."""

    first_mhz: float = Field(description="of the first core")
    second_mhz: float = Field(description="of the first core that differs")


class Perftest(Reading):
    """One run of ib_write_bw, ib_send_bw, ib_read_bw, ib_atomic_bw or a *_lat program, one side of it."""

    program: str | None = Field(description="e.g. ib_write_bw; None: neither command nor title is there")
    title: str | None = Field(description="e.g. RDMA_Write BW Test")
    role: Literal["server", "client"] | None = Field(description="None: could not be determined")
    peer: str | None = Field(description="host that the client was to connect to, from the command; None: no command")
    bidirectional: bool
    device: str | None = Field(description="HCA, e.g. mlx5_1")
    dual_port: bool | None = None
    qps: int | None = Field(default=None, description="queue pairs")
    transport_type: str | None = Field(default=None, description="IB or IW")
    connection_type: str | None = Field(default=None, description="RC, UC, UD, XRC, DC")
    tx_depth: int | None = None
    rx_depth: int | None = None
    cq_moderation: int | None = None
    mtu_bytes: int | None = None
    link_type: str | None = Field(default=None, description="IB or Ethernet")
    gid_index: int | None = None
    inline_bytes: int | None = None
    outstanding_reads: int | None = None
    relaxed_ordering: bool | None = Field(default=None, description="of PCIe; None: not printed")
    rdma_cm: bool | None = Field(default=None, description="whether rdma_cm makes the connection")
    exchange: str | None = Field(default=None, description="how the sides exchange data: Ethernet or rdma_cm")
    gpu: bool = Field(description="whether the buffers are in a GPU's memory (--use_cuda)")
    gpu_name: str | None = None
    local: tuple[End, ...] = ()
    remote: tuple[End, ...] = ()
    unit: Unit | None = Field(description="of the table; None: no table, or could not be determined (JSON)")
    bandwidth: tuple[Bandwidth, ...] = ()
    latency: tuple[Latency, ...] = ()
    missing_bytes: tuple[int, ...] = Field(default=(), description="sizes between those printed, or of -a, not there")
    contradictions: tuple[Contradiction, ...] = ()
    cpu_frequency: CpuFrequency | None = Field(default=None, description="None: no such warning")
    warnings: tuple[Unread, ...] = ()
    failures: tuple[Unread, ...] = Field(default=(), description="lines in which it reports a failure, in order")

    def _figures(self) -> str:
        named = f"{self.program or self.title or ''} {self.device or ''}".strip()
        if self.bandwidth:
            last = self.bandwidth[-1]
            return f"{named}, {last.average_mb_s:.2f} MB/s at {last.bytes} B"
        if self.latency:
            first = self.latency[0]
            return f"{named}, {first.typical_us} us at {first.bytes} B"
        return named
