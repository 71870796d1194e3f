"""Whether NCCL's messages of its channels are complete: every run, every ring, and no other network."""

import re
from collections.abc import Iterator

from core.apis.nccl import Transport
from core.wording import plural
from toolkit.evidence.criteria.transport import NETWORKS, is_over
from toolkit.evidence.criterion import NCCL, Criterion, Outcome, line_proofs, nccl_logs, opening_proofs, readings_of
from toolkit.evidence.model import Reading, Unread
from toolkit.evidence.tools import PARSERS
from toolkit.evidence.tools.nccl_tests.model import NcclTests
from toolkit.evidence.verdict import Job, Request, Status
from toolkit.evidence.wording import listed

_PROGRAMS = frozenset(parser.tool for parser in PARSERS if parser.hosts_nccl)
"""Tools that are programs over NCCL."""
_VIA = re.compile(r"\bvia (NET/\w+)")
_USING = "Using network "
_DISABLED = "GPU Direct RDMA Disabled for HCA"


def _every_run(job: Job) -> Outcome | None:
    runs = [reading for reading in job.readings if reading.tool in _PROGRAMS]
    silent = [reading for reading in runs if not _has_channels(reading)]
    # What ranks wrote into files of their own may be of any run.
    has_other_channels = any(_has_channels(reading) for reading in job.readings if reading.tool not in _PROGRAMS)
    if len(runs) <= 1 or len(silent) == len(runs) or has_other_channels:
        return None
    if silent:
        measured = f"{len(silent)} of {plural(len(runs), 'run')} print no channel"
        return Outcome(Status.MISSING, measured, proofs=opening_proofs(silent[:4]))
    return Outcome(Status.PASS, plural(len(runs), "run"), proofs=opening_proofs(runs[:4]))


def _has_channels(reading: Reading) -> bool:
    return reading.nccl is not None and bool(reading.nccl.between_nodes)


def _every_ring(job: Job) -> Outcome | None:
    logs = [
        (reading.file, reading.nccl)
        for reading in readings_of(job, NcclTests)
        if reading.nccl is not None and reading.nccl.rings and reading.nccl.between_nodes
    ]
    if not logs:
        return None
    # A ring goes into each node and out of it; channels of other communicators may have more numbers.
    short = [(file, log) for file, log in logs if log.rings_between_nodes < (log.rings or 0)]
    counts = [f"{log.rings_between_nodes} of {plural(log.rings or 0, 'ring')}" for _, log in short or logs]
    proofs = line_proofs(
        (file, log.proofs.get(kind)) for file, log in short or logs for kind in sorted(log.between_nodes)
    )
    return Outcome(Status.MISSING if short else Status.PASS, f"{listed(counts, 3)} go between nodes", proofs=proofs)


def _only_transport(job: Job) -> Outcome | None:
    network = NETWORKS[job.request.transport] if job.request.transport else ""
    if not any(log.between_nodes for _, log in nccl_logs(job)):
        return None
    others = list(_named(job, network))
    disabled = [(file, line) for file, log in nccl_logs(job) for line in log.gdr_unavailable if _DISABLED in line.text]
    proofs = line_proofs((others or disabled)[:4])
    if others:
        return Outcome(Status.FAIL, f"another in {plural(len(others), 'line')}", proofs=proofs)
    if disabled and job.request.transport is Transport.GPUDIRECT:
        return Outcome(Status.WARN, "NCCL reports an HCA without GPUDirect", proofs=proofs)
    return Outcome(Status.PASS, f"only {network}")


def _named(job: Job, network: str) -> Iterator[tuple[str, Unread]]:
    """Yield lines that name another network: messages `Using network`, and damaged lines of channels."""
    for reading in job.readings:
        for line in reading.unread:
            if any(not is_over(name, network) for name in _VIA.findall(line.text)):
                yield reading.file, line
        for kind, line in reading.nccl.proofs.items() if reading.nccl is not None else ():
            if kind.startswith(_USING) and not is_over(f"NET/{kind.removeprefix(_USING)}", network):
                yield reading.file, line


def _over_several(request: Request) -> bool:
    return request.transport is not None and request.spans_nodes


CRITERIA = (
    Criterion(
        name="channels-of-every-run",
        title="Each run prints its own channels",
        limit="NCCL messages from every run",
        unit="runs",
        applies="several runs of NCCL programs on several nodes, where at least one prints channels in its own output",
        source="R-4.3-4, R-4.4-12",
        needs=(NCCL,),
        judge=_every_run,
        when=_over_several,
        missed=False,
    ),
    Criterion(
        name="channels-of-every-ring",
        title="Every ring crosses between nodes",
        limit="for each ring that NCCL reports, as many channels between nodes as there are nodes",
        unit="rings",
        tolerance="a ring without these channels is missing evidence: log lines are lost",
        applies="runs of nccl-tests on several nodes that list the ranks of their rings",
        source="R-4.4-12",
        needs=(NCCL,),
        judge=_every_ring,
        when=_over_several,
        missed=False,
    ),
    Criterion(
        name="no-other-network",
        title="No line names another network, not even a garbled line",
        limit="only the requested network",
        unit="lines",
        tolerance="an HCA reported without GPUDirect is a warning: `gpudirect` judges the channels",
        applies="jobs on several nodes whose logs show channels between them",
        source="R-4.3-4, R-4.4-12",
        needs=(NCCL,),
        judge=_only_transport,
        when=_over_several,
        missed=False,
    ),
)
