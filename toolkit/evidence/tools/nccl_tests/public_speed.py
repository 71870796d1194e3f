"""Whether all-reduce is as fast as public records show that it can be, and repeats equally fast: warnings, no more."""

from collections import defaultdict
from collections.abc import Mapping
from statistics import median

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, readings_of, row_proofs
from toolkit.evidence.reference import PublicLimit, public_limit
from toolkit.evidence.tools.nccl_tests.model import NcclTests, Row
from toolkit.evidence.tools.nccl_tests.speed import ALL_REDUCE, all_reduces, by_size
from toolkit.evidence.verdict import Job, Request, Status
from toolkit.evidence.wording import listed

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


REPEAT_SHARE = 0.9
"""Of the median, which the slowest repeat is to have: as in nccl-tests for NCCL_TESTS_MIN_BW."""


def _spread(job: Job) -> Outcome | None:
    repeated = [rows for rows in _largest(job).values() if len(rows) > 1]
    if not repeated:
        return None
    slow = [
        (file, row, median(repeat.out_of_place.busbw_gb_s for _, repeat in rows))
        for rows in repeated
        for file, row in rows
        if row.out_of_place.busbw_gb_s < REPEAT_SHARE * median(repeat.out_of_place.busbw_gb_s for _, repeat in rows)
    ]
    if slow:
        speeds = [
            f"{row.out_of_place.busbw_gb_s:.2f} GB/s, and {median_busbw:.2f} in the middle"
            for _, row, median_busbw in slow
        ]
        proofs = row_proofs((file, row) for file, row, _ in slow[:4])
        return Outcome(Status.WARN, listed(speeds, 3), proofs=proofs)
    rows = [file_row for repeats in repeated for file_row in repeats]
    least, most = (pick(row.out_of_place.busbw_gb_s for _, row in rows) for pick in (min, max))
    return Outcome(
        Status.PASS, f"{least:.2f} to {most:.2f} GB/s in {plural(len(rows), 'run')}", proofs=row_proofs(rows[:4])
    )


def _largest(job: Job) -> Mapping[tuple[str | None, int | None, int], list[tuple[str, Row]]]:
    """Return the row of the largest size of each run, by operation, ranks and size."""
    largest: dict[tuple[str | None, int | None, int], list[tuple[str, Row]]] = defaultdict(list)
    for run in readings_of(job, NcclTests):
        if run.rows:
            row = max(run.rows, key=lambda row: row.bytes)
            largest[run.test, run.ranks, row.bytes].append((run.file, row))
    return largest


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
    Criterion(
        name="repeats-agree",
        title="Repeats of a run are equally fast",
        limit=f"each >= {REPEAT_SHARE:g} x the median, at the largest size",
        unit="GB/s",
        tolerance=f"a warning; {REPEAT_SHARE:g}, as in nccl-tests for NCCL_TESTS_MIN_BW",
        applies="several runs of nccl-tests with the same operation, ranks and largest size",
        source="R-4.4-8",
        judge=_spread,
        missed=False,
    ),
)
