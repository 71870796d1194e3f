"""Known causes of a node that is not fit, by what the test of a node (program preflight) printed."""

import re
from collections.abc import Callable, Iterator, Mapping

from core.apis.nccl import Transport
from core.hardware.measured import MEASURED_GPUS
from toolkit.evidence.criterion import nccl_logs, quoted_proofs, readings_of, row_proofs
from toolkit.evidence.diagnosis.cause_table import CAUSES
from toolkit.evidence.tools.nccl_tests.model import NcclTests
from toolkit.evidence.tools.nccl_tests.speed import slow_between_nodes
from toolkit.evidence.tools.preflight.parser import NOT_REPORTED, Preflight, Tested
from toolkit.evidence.verdict import Job, Proof

EXPLAINED_CLOCKS = 0x4 | 0x8 | 0x20 | 0x40 | 0x80
"""Reasons of lower clocks that say why: power cap, and slow-down by hardware, temperature and power brake."""


def _rows(job: Job, kind: str, is_faulty: Callable[[Tested], bool]) -> Iterator[Proof]:
    runs = readings_of(job, Preflight)
    yield from row_proofs((run.file, row) for run in runs for row in run.of_kind(kind) if is_faulty(row))


def _not_ready(job: Job) -> Iterator[Proof]:
    shows = next(re.compile(cause.shows, re.IGNORECASE) for cause in CAUSES if cause.name == "fabric-manager")
    yield from _rows(job, "failed", lambda row: shows.search(row.found.get("why", "")) is not None)


def _fewer_lanes(job: Job) -> Iterator[Proof]:
    pairs = (("pcie", "pcie_most"), ("width", "width_most"))
    yield from _rows(job, "load", lambda row: any(row.number(now) != row.number(most) for now, most in pairs))


def not_registered(job: Job, error: str) -> Iterator[Proof]:
    """Yield the lines in which an adapter could not register memory of a GPU, with this error of ibv_reg_mr."""
    yield from _rows(job, "gpudirect", lambda row: error in row.found.get("why", NOT_REPORTED))


def _links_down(job: Job) -> Iterator[Proof]:
    links = job.request.machine.nvlink.of_a_gpu if job.request.machine else 0
    if links:
        yield from _rows(job, "gpu", lambda row: row.links is not None and row.links < links)


def _capped(job: Job) -> Iterator[Proof]:
    measured = MEASURED_GPUS.get(job.request.machine.gpu.model) if job.request.machine else None
    if measured is None:
        return
    least = measured.loaded_mhz * measured.share

    def is_capped(row: Tested) -> bool:
        clock, reasons = row.number("sm_mhz"), row.found.get("reasons", NOT_REPORTED)
        known_reasons = reasons.startswith("0x") and int(reasons, 16) & EXPLAINED_CLOCKS
        return clock is not None and clock < least and not known_reasons

    yield from _rows(job, "load", is_capped)


def _redirected(job: Job) -> Iterator[Proof]:
    if job.request.transport is not Transport.GPUDIRECT or not slow_between_nodes(job):
        return
    logs = nccl_logs(job)
    whole = all(job.request.hcas <= {*devices} for _, log in logs for devices in log.devices_by_host.values())
    direct = all(log.gpudirect and not log.gdr_unavailable for _, log in logs)
    if logs and whole and direct:
        for file, log in logs:
            yield from quoted_proofs(file, log.proofs.get("NET/IB : Using"))
        yield from row_proofs((run.file, run.rows[-1]) for run in readings_of(job, NcclTests) if run.rows)


SEEN: Mapping[str, Callable[[Job], Iterator[Proof]]] = {
    "fabric-manager": _not_ready,
    "pcie-lanes": _fewer_lanes,
    "nvlinks-down": _links_down,
    "clock-capped": _capped,
    "pcie-redirected": _redirected,
}
"""Cause -> what yields the lines that show it, as in measured_causes."""
