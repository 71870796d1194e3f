"""What single links carry: the bandwidth tests of perftest, by HCA and side."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from toolkit.evidence.reference import RDMA_WRITE
from toolkit.evidence.tools.ibstatus import IbStatus
from toolkit.evidence.tools.perftest.criteria import EDR_GBPS, EDR_MB_S
from toolkit.evidence.tools.perftest.model import Perftest, as_mb
from toolkit.evidence.verdict import Job, Request

_WRITES = ("ib_write_bw", None)


class Link(NamedTuple):
    """The largest message of a bandwidth test, as one side of it printed it. MB are of 2^20 bytes."""

    job: str
    program: str
    device: str | None
    role: str | None
    bytes: int
    mb_s: float
    least_mb_s: float | None
    """What the documents require of such a link; None: no figure of theirs."""
    line_mb_s: float | None
    """Its rate; None: neither a log nor the machine's profile has it."""
    line_gbps: float | None
    paper_mb_s: float | None

    @property
    def named(self) -> str:
        """Program and HCA."""
        return " ".join(part for part in (self.program, self.device) if part)


def links(jobs: Iterable[Job]) -> tuple[Link, ...]:
    """Return the links that a run's jobs measured, in their order."""
    measured = []
    for job in jobs:
        ports = [port for reading in job.readings if isinstance(reading, IbStatus) for port in reading.rows]
        for test in (reading for reading in job.readings if isinstance(reading, Perftest) and reading.bandwidth):
            row = max(test.bandwidth, key=lambda bandwidth: bandwidth.bytes)
            if not math.isfinite(row.average_mb_s):
                continue
            shown_rate = next((port.rate_gbps for port in ports if port.up and port.device == test.device), None)
            rate = shown_rate or job.request.port_rate_gbps
            single = test.program in _WRITES and not test.bidirectional and not test.dual_port
            measured.append(
                Link(
                    job=job.request.job,
                    program=test.program or test.title or test.tool,
                    device=test.device,
                    role=test.role,
                    bytes=row.bytes,
                    mb_s=row.average_mb_s,
                    least_mb_s=EDR_MB_S if single and rate == EDR_GBPS else None,
                    line_mb_s=as_mb(rate, "Gb/s") if rate and not test.bidirectional and not test.dual_port else None,
                    line_gbps=rate,
                    paper_mb_s=RDMA_WRITE.average_mb_s if single and _as_the_paper(job.request) else None,
                )
            )
    return tuple(measured)


def _as_the_paper(request: Request) -> bool:
    return (request.profile, request.fabric) == (RDMA_WRITE.profile, RDMA_WRITE.fabric)
