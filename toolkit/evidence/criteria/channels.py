"""Whether NCCL's messages of its channels are complete: every run, every ring, and no other network."""

import re
from collections.abc import Iterator

from core.apis.nccl import Transport
from core.wording import plural
from toolkit.evidence.criteria.transport import NETWORKS, is_over
from toolkit.evidence.criterion import NCCL, Criterion, Found, begins, nccl_logs, of, texts_of
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


def _every_run(job: Job) -> Found | None:
    runs = [one for one in job.readings if one.tool in _PROGRAMS]
    silent = [one for one in runs if not _has_channels(one)]
    # What ranks wrote into files of their own may be of any run.
    apart = any(_has_channels(one) for one in job.readings if one.tool not in _PROGRAMS)
    if len(runs) <= 1 or len(silent) == len(runs) or apart:
        return None
    if silent:
        return Found(
            Status.MISSING, f"{len(silent)} of {plural(len(runs), 'run')} print no channel", proofs=begins(silent[:4])
        )
    return Found(Status.PASS, plural(len(runs), "run"), proofs=begins(runs[:4]))


def _has_channels(one: Reading) -> bool:
    return one.nccl is not None and bool(one.nccl.between_nodes)


def _every_ring(job: Job) -> Found | None:
    logs = [
        (one.file, one.nccl)
        for one in of(job, NcclTests)
        if one.nccl is not None and one.nccl.rings and one.nccl.between_nodes
    ]
    if not logs:
        return None
    # A ring goes into each node and out of it; channels of other communicators may have more numbers.
    short = [(file, log) for file, log in logs if log.rings_between_nodes < (log.rings or 0)]
    counts = [f"{log.rings_between_nodes} of {plural(log.rings or 0, 'ring')}" for _, log in short or logs]
    proofs = texts_of((file, log.proofs.get(kind)) for file, log in short or logs for kind in sorted(log.between_nodes))
    return Found(Status.MISSING if short else Status.PASS, f"{listed(counts, 3)} go between nodes", proofs=proofs)


def _no_other(job: Job) -> Found | None:
    wanted = NETWORKS[job.request.transport] if job.request.transport else ""
    if not any(log.between_nodes for _, log in nccl_logs(job)):
        return None
    named = list(_named(job, wanted))
    doubts = [(file, line) for file, log in nccl_logs(job) for line in log.gdr_unavailable if _DISABLED in line.text]
    proofs = texts_of((named or doubts)[:4])
    if named:
        return Found(Status.FAIL, f"another in {plural(len(named), 'line')}", proofs=proofs)
    if doubts and job.request.transport is Transport.GPUDIRECT:
        return Found(Status.WARN, "NCCL reports an HCA without GPUDirect", proofs=proofs)
    return Found(Status.PASS, f"only {wanted}")


def _named(job: Job, wanted: str) -> Iterator[tuple[str, Unread]]:
    """Yield lines that name another network: messages `Using network`, and damaged lines of channels."""
    for one in job.readings:
        for line in one.unread:
            if any(not is_over(name, wanted) for name in _VIA.findall(line.text)):
                yield one.file, line
        for kind, line in one.nccl.proofs.items() if one.nccl is not None else ():
            if kind.startswith(_USING) and not is_over(f"NET/{kind.removeprefix(_USING)}", wanted):
                yield one.file, line


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
        look=_every_run,
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
        look=_every_ring,
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
        look=_no_other,
        when=_over_several,
        missed=False,
    ),
)
