"""Whether repeats of a run measured the same: the median that is judged hides one that was slow."""

from collections import defaultdict
from collections.abc import Mapping
from statistics import median

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, readings_of, row_proofs
from toolkit.evidence.tools.nccl_tests.model import NcclTests, Row
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed

SHARE = 0.9
"""Of the median, which the slowest repeat is to have: as in nccl-tests for NCCL_TESTS_MIN_BW."""


def _spread(job: Job) -> Outcome | None:
    repeated = [rows for rows in _largest(job).values() if len(rows) > 1]
    if not repeated:
        return None
    slow = [
        (file, row, median(repeat.out_of_place.busbw_gb_s for _, repeat in rows))
        for rows in repeated
        for file, row in rows
        if row.out_of_place.busbw_gb_s < SHARE * median(repeat.out_of_place.busbw_gb_s for _, repeat in rows)
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
        name="repeats-agree",
        title="Repeats of a run are equally fast",
        limit=f"each >= {SHARE:g} x the median, at the largest size",
        unit="GB/s",
        tolerance=f"a warning; {SHARE:g}, as in nccl-tests for NCCL_TESTS_MIN_BW",
        applies="several runs of nccl-tests with the same operation, ranks and largest size",
        source="R-4.4-8",
        judge=_spread,
        missed=False,
    ),
)
