"""What single links carry, by HCA and side, and the few figures that a job is known by."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from core.hardware.measured import RDMA_WRITE
from toolkit.evidence.criterion import readings_of
from toolkit.evidence.goodput.reading import Goodput
from toolkit.evidence.metrics import Metrics
from toolkit.evidence.records import Run
from toolkit.evidence.report.bars import result
from toolkit.evidence.report.run_summary import by_job, counted, layouts, named_counts
from toolkit.evidence.report.sweeps import sweeps
from toolkit.evidence.tools.ibstatus import IbStatus
from toolkit.evidence.tools.perftest import EDR_GBPS, EDR_MB_S
from toolkit.evidence.tools.perftest.model import Perftest, as_mb
from toolkit.evidence.verdict import Job, Request, Status
from toolkit.evidence.wording import figure, size

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


def headline(job: Job) -> str:
    """Return the ends of its tables, what its links carried, its metrics, and its rate or run time, as far as known."""
    figures = []
    for sweep in sweeps([job]):
        if sweep.out_of_place:
            first, last = sweep.out_of_place[0], sweep.out_of_place[-1]
            figures.append(
                f"{sweep.test} {figure(first.time_us)} µs at {size(first.bytes)}, "
                f"{figure(last.busbw_gb_s)} GB/s at {size(last.bytes)}"
            )
    figures += [f"{link.named} {figure(link.mb_s)} MB/s" for link in links([job])]
    figures += [text for metrics in readings_of(job, Metrics) if (text := metrics.figures())]
    figures += [f"goodput {goodput.of_wall:.1%}" for goodput in readings_of(job, Goodput) if goodput.of_wall]
    training_result = result(job)
    if training_result is not None:
        figures.append(f"{figure(training_result[0])} {training_result[1]}")
    return "; ".join(figures)


def job_rows(run: Run) -> Sequence[tuple[Status, str, str, str, str]]:
    """Return of each job, and of what is between jobs, worst status, name, layout, counts of criteria and figures.

    What is between jobs has no readings of its own: its figures are those of its verdict.
    """
    about, headlines = layouts(run), {job.request.job: headline(job) for job in run.jobs}
    rows = []
    for job, verdicts in by_job(run).items():
        counts = counted(verdicts)
        figures = headlines.get(job) or (verdicts[0].measured if len(verdicts) == 1 else "")
        rows.append((counts[0][0], job, about.get(job, ""), named_counts(counts), figures))
    return rows
