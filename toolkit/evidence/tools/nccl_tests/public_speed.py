"""Whether all-reduce on today's machines is as fast as public records show that it can be: a warning, no more."""

from statistics import median

from toolkit.evidence.criterion import Criterion, Outcome, row_proofs
from toolkit.evidence.reference import PublicLimit, public_limit
from toolkit.evidence.tools.nccl_tests.speed import ALL_REDUCE, all_reduces, by_size
from toolkit.evidence.verdict import Job, Request, Status

MIB = 1 << 20


def _limit(request: Request) -> PublicLimit | None:
    """Return what is known of the requested machines; None also for pods that share one, which have less."""
    machine, shape = request.machine, request.shape
    if machine is None or shape is None or shape.gpus != machine.gpus or request.program not in ALL_REDUCE:
        return None
    # Over other transports and fabrics the records have nothing.
    if shape.pods > 1 and not (request.is_infiniband and request.uses_rdma):
        return None
    return public_limit(machine, shape.pods)


def _bandwidth(job: Job) -> Outcome | None:
    public = _limit(job.request)
    sizes = {size: rows for size, rows in by_size(all_reduces(job)).items() if public and size >= public.mib * MIB}
    if public is None or not sizes:
        return None
    rows = sizes[max(sizes)]
    measured = median(row.busbw for row in rows)
    share = "" if public.share == 1 else f"{public.share:g} x {public.gb_s:g}, "
    limit = f">= {public.least:g} GB/s ({share}{public.source})"
    status = Status.PASS if measured >= public.least else Status.WARN
    return Outcome(status, f"{measured:.2f} GB/s at {max(sizes)} B", limit, row_proofs(rows))


CRITERIA = (
    Criterion(
        name="public-bus-bandwidth",
        title="Large messages are as fast as in public records of such machines",
        limit=">= the entry for these machines in the table of public limits below, at the largest size",
        unit="GB/s",
        tolerance="a warning; 0.9 where the record is a measurement; the median of repeats",
        applies="all-reduce on whole machines that the table lists, over InfiniBand if on several, up to its size "
        "(`largest_mib`)",
        source="github.com/Azure/azurehpc-health-checks, NVIDIA/nccl and NVIDIA/nccl-tests, as the table names them",
        judge=_bandwidth,
        missed=False,
        when=lambda request: _limit(request) is not None,
    ),
)
