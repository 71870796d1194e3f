"""Known causes that only figures show: of jobs, and of a node that is not fit by its test (program preflight)."""

import re
from collections.abc import Callable, Iterator, Mapping

from core.apis.nccl import Transport
from core.hardware.gpus import ARCHITECTURES, Architecture, architecture_of
from core.hardware.measured import MEASURED_GPUS
from toolkit.evidence.criterion import nccl_logs, proofs_at, quoted_proofs, readings_of, row_proofs
from toolkit.evidence.diagnosis.cause_table import CAUSES
from toolkit.evidence.model import NodeFacts
from toolkit.evidence.tools.hpc_data import DataLog
from toolkit.evidence.tools.ibstatus import IbStatus
from toolkit.evidence.tools.nccl_tests.model import NcclTests
from toolkit.evidence.tools.nccl_tests.speed import slow_between_nodes
from toolkit.evidence.tools.network import NetDevices
from toolkit.evidence.tools.preflight.parser import NOT_REPORTED, Preflight, Tested
from toolkit.evidence.tools.process import Ulimit
from toolkit.evidence.tools.rdma_devices import RdmaDevices
from toolkit.evidence.tools.torch_distributed.model import TorchDistributed, ranks_behind
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


def _not_registered(job: Job, error: str) -> Iterator[Proof]:
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


ETHERNET_BYTES = 1500
"""MTU below which a pod network is an overlay's: 1450 in the blog."""
_STALL = re.compile(r"waiting for remainder of ranks|\[missing ranks: |(?:Stalled|Missing) (?:ranks|ops)\b|\b\d+: \[")
"""Lines of a warning of Horovod: of the stall, and which ranks and tensors are missing."""
_WHOLE = 100.0
"""Percent."""


def _limited(job: Job) -> Iterator[Proof]:
    for limit in readings_of(job, Ulimit):
        if limit.unlimited is False:
            yield from proofs_at(limit.file, limit.line)
    yield from _not_registered(job, "Cannot_allocate_memory")


def _no_peer_memory(job: Job) -> Iterator[Proof]:
    yield from _not_registered(job, "peermem:_Bad_address")


def _hca_absent(job: Job) -> Iterator[Proof]:
    hcas = job.request.hcas
    for table in readings_of(job, IbStatus):
        down = [port.line for port in table.rows if port.device in hcas and not port.up]
        yield from proofs_at(table.file, *down)
        if table.rows and hcas - {port.device for port in table.rows}:
            yield from proofs_at(table.file, table.first_line)
    for files in readings_of(job, RdmaDevices):
        if 0 < files.counts.get("uverbs", 0) < len(hcas):
            yield from proofs_at(files.file, files.first_line)
    for file, log in nccl_logs(job) if job.request.uses_rdma else ():
        absent = [hcas - {*devices} for devices in log.devices_by_host.values() if devices]
        if any(absent):
            yield from quoted_proofs(file, log.proofs.get("NET/IB : Using"))


def _fell_back(job: Job) -> Iterator[Proof]:
    for file, log in nccl_logs(job) if job.request.uses_rdma else ():
        if log.between_nodes.get("NET/Socket"):
            yield from quoted_proofs(file, log.proofs.get("NET/Socket"))


def _no_direct(job: Job) -> Iterator[Proof]:
    for file, log in nccl_logs(job) if job.request.transport is Transport.GPUDIRECT else ():
        explained = log.gdr_unavailable or "NCCL_NET_GDR_LEVEL" in log.proofs
        if not log.gpudirect and not explained and log.between_nodes.get("NET/IB"):
            yield from quoted_proofs(file, log.proofs.get("NET/IB"))


def _no_gpu_stack(job: Job) -> Iterator[Proof]:
    for facts in readings_of(job, NodeFacts):
        for row, node in enumerate(facts.nodes, 1):
            if not node.gpus:
                yield Proof(file=facts.file, line=row, text=f"{node.name}: 0 GPUs")


def _overlay(job: Job) -> Iterator[Proof]:
    for facts in readings_of(job, NodeFacts):
        if facts.pod_mtu is not None and facts.pod_mtu < ETHERNET_BYTES:
            yield Proof(file=facts.file, line=1, text=f"pod network: MTU {facts.pod_mtu}")
    for devices in readings_of(job, NetDevices):
        small = [
            row.line for row in devices.rows if row.mtu is not None and row.mtu < ETHERNET_BYTES and row.name != "lo"
        ]
        yield from proofs_at(devices.file, *small)


def _single(job: Job) -> Iterator[Proof]:
    if job.request.shape is not None and job.request.shape.gpus == 1 and job.request.shape.pods > 1:
        for run in readings_of(job, NcclTests):
            yield from proofs_at(run.file, *[device.line for device in run.devices[:2]])


def _other_ranks(job: Job) -> Iterator[Proof]:
    shape = job.request.shape
    for run in readings_of(job, NcclTests):
        if shape is not None and run.ranks not in (None, shape.total):
            yield from proofs_at(run.file, *[device.line for device in run.devices[-1:]])


def _not_cached(job: Job) -> Iterator[Proof]:
    for log in readings_of(job, DataLog):
        yield from proofs_at(log.file, *[row.line for row in log.rows if row.cached == 0 and row.bytes])


def _evicted(job: Job) -> Iterator[Proof]:
    for log in readings_of(job, DataLog):
        yield from proofs_at(log.file, *[row.line for row in log.rows if row.cached and row.cached < _WHOLE])


def _behind(job: Job) -> Iterator[Proof]:
    for reading in readings_of(job, TorchDistributed):
        yield from proofs_at(reading.file, *[behind.progress.line for behind in ranks_behind(reading.progress)])
        yield from proofs_at(reading.file, *[named.line for named in reading.named])


def _stalled(job: Job) -> Iterator[Proof]:
    """Yield where Horovod warns of a stall and prints nothing after it: else the ranks came in the end."""
    for reading in job.readings:
        stalls = [line for line in reading.unread if "waiting for remainder of ranks for more than" in line.text]
        if stalls and _STALL.search(reading.unread[-1].text):
            yield from quoted_proofs(reading.file, stalls[-1])


def _old_nccl(job: Job) -> Iterator[Proof]:
    machine = job.request.machine
    for reading in job.readings:
        if reading.nccl is None or reading.nccl.version is None:
            continue
        names = {device.name for device in reading.devices} if isinstance(reading, NcclTests) else set()
        kinds = [architecture_of(name) for name in names]
        if machine is not None:
            kinds.append(ARCHITECTURES.get(machine.gpu.architecture))
        if any(_is_older(reading.nccl.version, kind) for kind in kinds):
            yield from quoted_proofs(reading.file, reading.nccl.proofs.get("NCCL version"))


def _is_older(version: str, kind: Architecture | None) -> bool:
    return kind is not None and kind.first_nccl is not None and _numbers(version) < _numbers(kind.first_nccl)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


SEEN: Mapping[str, Callable[[Job], Iterator[Proof]]] = {
    "memlock": _limited,
    "no-peer-memory": _no_peer_memory,
    "hca-absent": _hca_absent,
    "no-gpudirect": _no_direct,
    "fell-back": _fell_back,
    "no-gpu-stack": _no_gpu_stack,
    "overlay-mtu": _overlay,
    "single-gpu-pods": _single,
    "not-cached": _not_cached,
    "evicted": _evicted,
    "other-ranks": _other_ranks,
    "rank-behind": _behind,
    "nccl-too-old": _old_nccl,
    "horovod-stalled": _stalled,
    "fabric-manager": _not_ready,
    "pcie-lanes": _fewer_lanes,
    "nvlinks-down": _links_down,
    "clock-capped": _capped,
    "pcie-redirected": _redirected,
}
"""Cause -> what yields the lines that show it; none: it is not there."""
