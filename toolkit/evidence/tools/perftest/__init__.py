"""perftest: bandwidth and latency of RDMA between two hosts."""

from collections.abc import Sequence
from statistics import median

from core.hardware.measured import RDMA_WRITE
from toolkit.evidence.criterion import Criterion, Outcome, passed, proofs_at, readings_of
from toolkit.evidence.tools.perftest.model import Bandwidth, Contradiction, CpuFrequency, End, Latency, Perftest
from toolkit.evidence.tools.perftest.parser import PerftestParser
from toolkit.evidence.verdict import Job, Status

__all__ = ["CRITERIA", "Bandwidth", "Contradiction", "CpuFrequency", "End", "Latency", "Perftest", "PerftestParser"]

EDR_GBPS = 100
EDR_MB_S = RDMA_WRITE.least_mb_s
"""MB/s of 2^20 bytes, as perftest prints them: 92 Gb/s of 100."""
_WRITES = ("ib_write_bw", None)


def _write_bandwidth(job: Job) -> Outcome | None:
    links: dict[tuple[str, str, str], list[Bandwidth]] = {}
    for run in readings_of(job, Perftest):
        if run.program in _WRITES and not run.bidirectional and not run.dual_port and run.bandwidth:
            links.setdefault((run.file, run.device or "", run.role or ""), []).extend(run.bandwidth)
    if not links:
        return Outcome(Status.MISSING, "no row of ib_write_bw")
    (file, device, _), rows = min(links.items(), key=lambda link: _carried(link[1]))
    largest = _largest(rows)
    measured = f"{_carried(rows):.2f} MB/s at {largest[0].bytes} B"
    shown = f"{device or 'one link'}: {measured}, the least of {len(links)}" if len(links) > 1 else measured
    return Outcome(passed(_carried(rows) >= EDR_MB_S), shown, proofs=proofs_at(file, *[row.line for row in largest]))


def _largest(rows: Sequence[Bandwidth]) -> list[Bandwidth]:
    # Small messages of -a are bound by their rate: what the link carries is the largest's figure.
    size = max(row.bytes for row in rows)
    return [row for row in rows if row.bytes == size]


def _carried(rows: Sequence[Bandwidth]) -> float:
    return median(row.average_mb_s for row in _largest(rows))


CRITERIA = (
    Criterion(
        name="ib-write-bandwidth",
        title="A single link reaches EDR bandwidth",
        limit=f">= {EDR_MB_S:,.0f} MB/s, average of the largest messages",
        unit="MB/s",
        tolerance="92 % of the line rate; the median of a link's repeats, for the slowest link; MB are 2^20 bytes",
        applies="ib_write_bw over InfiniBand EDR (100 Gb/s); no document gives a number for other rates",
        source="R-4.1-8",
        judge=_write_bandwidth,
        when=lambda request: request.is_infiniband and request.port_rate_gbps == EDR_GBPS,
    ),
)
