"""Whether all-reduce is as fast as the documents' own run of the same shape on the same machine and fabric."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from toolkit.evidence import reference
from toolkit.evidence.criterion import Criterion, Outcome, passed, proofs_at, readings_of, row_proofs
from toolkit.evidence.reference import AllReduceRun
from toolkit.evidence.tools.nccl_tests.model import NcclTests, Row
from toolkit.evidence.tools.nccl_tests.primitives import is_of
from toolkit.evidence.tools.nccl_tests.results import halves
from toolkit.evidence.verdict import Job, Request, Status

SHARE = 0.9
"""Of a measured bandwidth, which is enough: nccl-tests' own, for NCCL_TESTS_MIN_BW."""
SMALL_US = 100.0
"""us below which the Redpaper calls a latency InfiniBand's: two digits."""
LARGE_BYTES = 1 << 28
COLLAPSE = 0.5
"""Share of the bandwidth of whole pods, below which single-GPU pods are a warning; the Redpaper's have a tenth."""
ALL_REDUCE = (None, "nccl-all-reduce", "node-check")
"""Programs that run all-reduce, or may."""
_SOURCE = "R-4.4-4, R-4.4-8, R-4.4-13"
_APPLIES = "all-reduce of a profile, fabric, transport and shape for which the Redpaper has a table"


class Timed(NamedTuple):
    """A row with the file that it is in."""

    file: str
    row: Row

    @property
    def slowest_us(self) -> float:
        """Time of the slower half, us."""
        return max(half.time_us for half in halves(self.row))

    @property
    def busbw(self) -> float:
        """Bus bandwidth out of place, GB/s."""
        return self.row.out_of_place.busbw_gb_s


def _runs(request: Request) -> list[AllReduceRun]:
    """Return the documents' runs on the requested machines, fabric and transport."""
    return [
        run
        for run in reference.ALL_REDUCE
        if run.profile == request.profile
        and request.fabric in (None, run.fabric)
        and request.transport in (None, run.transport)
    ]


def own_run(request: Request) -> AllReduceRun | None:
    """Return the documents' all-reduce of the same request; None: they have none."""
    return next((run for run in _runs(request) if run.shape == request.shape), None)


def _has_run(request: Request) -> bool:
    return own_run(request) is not None and request.program in ALL_REDUCE


def small_bytes(run: AllReduceRun) -> int:
    """Return the size up to which all latencies of a run are below 100 us."""
    sizes = []
    for row in run.rows:
        if max(row.out_of_place.time_us, row.in_place.time_us) >= SMALL_US:
            break
        sizes.append(row.bytes)
    return sizes[-1]


def by_size(tests: Sequence[NcclTests]) -> Mapping[int, Sequence[Timed]]:
    """Return the rows of all runs by size: of repeats the median is judged."""
    rows_by_size: dict[int, list[Timed]] = defaultdict(list)
    for test in tests:
        for row in test.rows:
            rows_by_size[row.bytes].append(Timed(test.file, row))
    return rows_by_size


def all_reduces(job: Job) -> list[NcclTests]:
    """Return a job's runs of all-reduce."""
    # A table of 2020 does not name its operation; then its bus factor, or the request, does.
    own = job.request.program in ALL_REDUCE
    ranks = job.request.shape.total if job.request.shape else None
    matches = [(test, is_of(test, "all_reduce", ranks)) for test in readings_of(job, NcclTests)]
    return [test for test, same in matches if same or (same is None and own)]


def _without(job: Job) -> Outcome | None:
    """Return that the all-reduce is missing; None for an unknown program, which may run another operation."""
    return Outcome(Status.MISSING, "no all-reduce") if job.request.program else None


def _latency(job: Job) -> Outcome | None:
    reference, tests = own_run(job.request), all_reduces(job)
    if reference is None or not tests:
        return _without(job)
    last = small_bytes(reference)
    limit = f"< {SMALL_US:g} us up to {last} B"
    rows = by_size(tests)
    small = {size: median(row.slowest_us for row in repeats) for size, repeats in rows.items() if size <= last}
    if not small:
        return Outcome(Status.MISSING, f"no size up to {last} B", limit)
    size = max(small, key=lambda size: small[size])
    worst = max(rows[size], key=lambda row: row.slowest_us)
    return Outcome(
        passed(small[size] < SMALL_US), f"{small[size]:g} us at {size} B", limit, proofs_at(worst.file, worst.row.line)
    )


def _bandwidth(job: Job) -> Outcome | None:
    reference, tests = own_run(job.request), all_reduces(job)
    if reference is None or not tests:
        return _without(job)
    least = SHARE * _large(reference)
    limit = f">= {least:.2f} GB/s ({SHARE:g} x {_large(reference):g}, the Redpaper's)"
    rows = by_size(tests).get(LARGE_BYTES)
    if not rows:
        return Outcome(Status.MISSING, "no row of 256 MiB", limit)
    measured = median(row.busbw for row in rows)
    return Outcome(passed(measured >= least), f"{measured:.2f} GB/s", limit, row_proofs(rows))


def slow_between_nodes(job: Job) -> bool:
    """Return whether large messages of a job over several nodes are slower than the documents' own run."""
    outcome = _bandwidth(job) if job.request.spans_nodes and own_run(job.request) else None
    return outcome is not None and outcome.status is Status.FAIL


def _large(run: AllReduceRun) -> float:
    return next(row.out_of_place.busbw_gb_s for row in run.rows if row.bytes == LARGE_BYTES)


def _average(job: Job) -> Outcome | None:
    reference, sizes = own_run(job.request), all_reduces(job)
    # An average over other sizes is another figure.
    tests = [
        test
        for test in sizes
        if reference and {row.bytes for row in test.rows} == {row.bytes for row in reference.rows}
    ]
    averages = [test.average_recomputed_gb_s for test in tests if test.average_recomputed_gb_s is not None]
    if reference is None or not averages:
        return None
    least = SHARE * reference.average_busbw_gb_s
    limit = f">= {least:.2f} GB/s ({SHARE:g} x {reference.average_busbw_gb_s:g}, the Redpaper's)"
    proofs = row_proofs((test.file, test.rows[-1]) for test in tests)
    return Outcome(passed(median(averages) >= least), f"{median(averages):.4f} GB/s", limit, proofs)


def _collapse(job: Job) -> Outcome | None:
    shape, tests = job.request.shape, all_reduces(job)
    whole = next(
        (run for run in _runs(job.request) if shape and run.shape.total == shape.total and run.shape.gpus > 1), None
    )
    rows = by_size(tests).get(LARGE_BYTES)
    if whole is None or not rows:
        return None
    least = COLLAPSE * _large(whole)
    measured = median(row.busbw for row in rows)
    limit = f">= {least:.2f} GB/s ({COLLAPSE:g} x {_large(whole):g} of {whole.shape})"
    status = Status.PASS if measured >= least else Status.WARN
    return Outcome(status, f"{measured:.2f} GB/s", limit, row_proofs(rows))


CRITERIA = (
    Criterion(
        name="small-message-latency",
        title="Small messages are as fast as over InfiniBand",
        limit=f"< {SMALL_US:g} us, up to the last size at which the Redpaper's run is below it",
        unit="us",
        tolerance="the median of repeats; the slower of out-of-place and in-place",
        applies=_APPLIES,
        source=f"{_SOURCE}, E-29",
        judge=_latency,
        when=_has_run,
    ),
    Criterion(
        name="bus-bandwidth",
        title="Large messages are as fast as the Redpaper's",
        limit=f">= {SHARE:g} x the Redpaper's bus bandwidth at 256 MiB",
        unit="GB/s",
        tolerance=f"{SHARE:g}, as in nccl-tests for NCCL_TESTS_MIN_BW; the median of repeats",
        applies=_APPLIES,
        source=_SOURCE,
        judge=_bandwidth,
        when=_has_run,
    ),
    Criterion(
        name="average-bus-bandwidth",
        title="The average over all sizes is as fast as the Redpaper's",
        limit=f">= {SHARE:g} x the mean of the Redpaper's table",
        unit="GB/s",
        tolerance=f"{SHARE:g}, as in nccl-tests for NCCL_TESTS_MIN_BW; the median of repeats",
        applies=f"{_APPLIES}, with the same sizes",
        source=_SOURCE,
        judge=_average,
        when=_has_run,
    ),
    Criterion(
        name="single-gpu-pods",
        title="Single-GPU pods reach half the bandwidth of whole-node pods",
        limit=f">= {COLLAPSE:g} x the Redpaper's bus bandwidth at 256 MiB for pods with all GPUs of a node",
        unit="GB/s",
        tolerance="a warning: the Redpaper's single-GPU pods reach a tenth",
        applies="all-reduce of single-GPU pods, where the Redpaper has a table of as many GPUs in whole-node pods",
        source="E-29, R-4.4-8, R-4.4-13",
        judge=_collapse,
        when=lambda request: request.shape is not None and request.shape.gpus == 1 and bool(_runs(request)),
    ),
)
