"""Whether what nccl-tests computed is right, agrees with itself, and was computed by all GPUs."""

from collections.abc import Iterator

from evidence.criteria.criterion import Criterion, Found, at, ends, listed, of, passed, quoted
from evidence.tools.nccl_tests.model import Figures, NcclTests, Row
from evidence.verdict import Job, Status

LARGEST_ERROR = 5e-07
_TESTED = ("nccl-tests",)


def halves(row: Row) -> Iterator[Figures]:
    """Yield both halves of a row, or the one that is there."""
    yield row.out_of_place
    if row.in_place is not None:
        yield row.in_place


def _correct(job: Job) -> Found | None:
    tests = of(job, NcclTests)
    rows = [(one, row) for one in tests for row in one.rows]
    if not rows:
        return Found(Status.MISSING, "no row of the table")
    bad = [at(one.file, row.line) for one, row in rows if not all(map(_right, halves(row)))]
    bounds = sum(one.out_of_bounds or 0 for one in tests)
    unchecked = [at(one.file, row.line) for one, row in rows if not any(map(_checked, halves(row)))]
    if not bad and not bounds and unchecked:
        return Found(Status.MISSING, f"{len(unchecked)} of {len(rows)} rows were not checked", proofs=unchecked[0])
    proofs = tuple(proof for lines in bad[:5] for proof in lines)
    return Found(
        passed(not bad and not bounds), f"{len(bad)} rows wrong, {bounds} out of bounds", proofs=proofs or ends(tests)
    )


def _checked(half: Figures) -> bool:
    return half.wrong is not None or half.error is not None


def _right(half: Figures) -> bool:
    return not half.wrong and (half.error is None or half.error <= LARGEST_ERROR)


def _consistent(job: Job) -> Found | None:
    tests = of(job, NcclTests)
    rows = [(one.file, each) for one in tests for each in one.contradictions]
    averages = [one for one in tests if one.average_agrees is False]
    if not rows and not averages:
        agree = sum(len(one.rows) for one in tests)
        return Found(Status.PASS, f"{agree} rows agree") if agree else Found(Status.MISSING, "no row of the table")
    said = [each.why for _, each in rows] + [
        f"average {one.average_busbw_gb_s:g} printed, {one.average_recomputed_gb_s:g} by the rows"
        for one in averages
        if one.average_busbw_gb_s is not None and one.average_recomputed_gb_s is not None
    ]
    proofs = [proof for file, each in rows for proof in at(file, each.row.line)]
    return Found(Status.FAIL, listed(said, 3), proofs=(*proofs, *ends(averages)))


def _no_failure(job: Job) -> Found | None:
    told = [(one.file, line) for one in of(job, NcclTests) for line in one.failures]
    if not told and not all(one.rows for one in of(job, NcclTests)):
        return Found(Status.MISSING, "no row of the table, and no line that says why")
    if not told:
        return Found(Status.PASS, "none")
    proofs = tuple(proof for file, line in told for proof in quoted(file, line))
    return Found(Status.FAIL, f"{len(told)} lines say so", proofs=proofs)


def _ranks(job: Job) -> Found | None:
    shape = job.asked.shape
    counted = [(one, one.ranks) for one in of(job, NcclTests) if one.ranks is not None]
    if shape is None:
        return None
    if not counted:
        return Found(Status.MISSING, "no list of devices")
    one, ranks = min(counted, key=lambda pair: pair[1] == shape.total)
    lines = [device.line for device in one.devices]
    proofs = at(one.file, *(lines[:1] + lines[-1:]))
    # The list is whole before the first row comes.
    short = ranks < shape.total and not one.rows
    return Found(passed(ranks == shape.total), f"{ranks} ranks", f"{shape.total} ranks", proofs, short)


CRITERIA = (
    Criterion(
        name="results-correct",
        title="Collective operations compute what they should",
        limit="0 wrong, 0 out of bounds, error <= 5e-07",
        unit="rows",
        tolerance="old versions print the relative error, of which the paper's largest is 5e-07",
        applies="runs of nccl-tests",
        source="R-4.4-4, R-4.4-8",
        needs=_TESTED,
        look=_correct,
    ),
    Criterion(
        name="figures-agree",
        title="The table agrees with itself",
        limit="busbw = algbw x bus factor, average = mean of busbw",
        unit="rows",
        tolerance="rounding of what is printed",
        applies="runs of nccl-tests",
        source="R-4.4-5",
        needs=_TESTED,
        look=_consistent,
    ),
    Criterion(
        name="test-ran",
        title="The test says of no failure",
        limit="no line that says that it failed",
        unit="lines",
        tolerance="",
        applies="runs of nccl-tests",
        source="R-4.4-8",
        needs=_TESTED,
        look=_no_failure,
    ),
    Criterion(
        name="ranks-are-gpus",
        title="Every GPU of the job has a rank",
        limit="pods x GPUs",
        unit="ranks",
        tolerance="",
        applies="runs of nccl-tests whose shape is known",
        source="R-4.3-2, B-1.2, N-8.4",
        needs=_TESTED,
        look=_ranks,
        when=lambda asked: asked.shape is not None,
    ),
)
