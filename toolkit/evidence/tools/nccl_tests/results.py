"""Whether what nccl-tests computed is right, agrees with itself, and was computed by all GPUs."""

from collections.abc import Iterator

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Found, at, ends, lines_of, of, passed, texts_of
from toolkit.evidence.tools.nccl_tests.model import Figures, NcclTests, Row
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed

LARGEST_ERROR = 5e-07


def halves(row: Row) -> Iterator[Figures]:
    """Yield both halves of a row, or the one that is there."""
    yield row.out_of_place
    if row.in_place is not None:
        yield row.in_place


def _correct(job: Job) -> Found | None:
    tests = of(job, NcclTests)
    rows = [(one.file, row) for one in tests for row in one.rows]
    if not rows:
        return Found(Status.MISSING, "no row of the table")
    bad = [(file, row) for file, row in rows if not all(map(_right, halves(row)))]
    bounds = sum(one.out_of_bounds or 0 for one in tests)
    unchecked = [(file, row) for file, row in rows if not any(map(_checked, halves(row)))]
    if not bad and not bounds and unchecked:
        measured = f"{len(unchecked)} of {plural(len(rows), 'row')} not checked"
        return Found(Status.MISSING, measured, proofs=lines_of(unchecked[:1]))
    measured = f"{plural(len(bad), 'row')} wrong, {bounds} out of bounds"
    return Found(passed(not bad and not bounds), measured, proofs=lines_of(bad[:5]) or ends(tests))


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
        return (
            Found(Status.PASS, plural(agree, "row agrees", "rows agree"))
            if agree
            else Found(Status.MISSING, "no row of the table")
        )
    reasons = [each.why for _, each in rows] + [
        f"average {one.average_busbw_gb_s:g} printed, {one.average_recomputed_gb_s:g} by the rows"
        for one in averages
        if one.average_busbw_gb_s is not None and one.average_recomputed_gb_s is not None
    ]
    proofs = (*lines_of((file, each.row) for file, each in rows), *ends(averages))
    return Found(Status.FAIL, listed(reasons, 3), proofs=proofs)


def _no_failure(job: Job) -> Found | None:
    failures = [(one.file, line) for one in of(job, NcclTests) for line in one.failures]
    if not failures and not all(one.rows for one in of(job, NcclTests)):
        return Found(Status.MISSING, "no row of the table, and no line that explains it")
    if not failures:
        return Found(Status.PASS, "none")
    return Found(
        Status.FAIL,
        plural(len(failures), "line reports a failure", "lines report a failure"),
        proofs=texts_of(failures),
    )


def _ranks(job: Job) -> Found | None:
    shape = job.request.shape
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
    return Found(passed(ranks == shape.total), plural(ranks, "rank"), plural(shape.total, "rank"), proofs, short)


CRITERIA = (
    Criterion(
        name="results-correct",
        title="Collective operations return correct results",
        limit="0 wrong, 0 out of bounds, error <= 5e-07",
        unit="rows",
        tolerance="old versions print a relative error; the largest in the Redpaper is 5e-07",
        applies="runs of nccl-tests",
        source="R-4.4-4, R-4.4-8",
        look=_correct,
    ),
    Criterion(
        name="figures-agree",
        title="The table is consistent",
        limit="busbw = algbw x bus factor, average = mean of busbw",
        unit="rows",
        tolerance="rounding of the printed figures",
        applies="runs of nccl-tests",
        source="R-4.4-5",
        look=_consistent,
    ),
    Criterion(
        name="test-ran",
        title="The test reports no failure",
        limit="no line that reports a failure",
        unit="lines",
        applies="runs of nccl-tests",
        source="R-4.4-8",
        look=_no_failure,
    ),
    Criterion(
        name="ranks-are-gpus",
        title="Every GPU of the job has a rank",
        limit="pods x GPUs",
        unit="ranks",
        applies="runs of nccl-tests whose shape is known",
        source="R-4.3-2, B-1.2, N-8.4",
        look=_ranks,
        when=lambda request: request.shape is not None,
    ),
)
