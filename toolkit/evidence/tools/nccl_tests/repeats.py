"""Whether repeats of a run measured the same: the median that is judged hides one that was slow."""

from collections import defaultdict
from collections.abc import Mapping
from statistics import median

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Found, lines_of, of
from toolkit.evidence.tools.nccl_tests.model import NcclTests, Row
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed

SHARE = 0.9
"""Of the median, which the slowest repeat is to have: as in nccl-tests for NCCL_TESTS_MIN_BW."""


def _spread(job: Job) -> Found | None:
    found = [rows for rows in _largest(job).values() if len(rows) > 1]
    if not found:
        return None
    slow = [
        (file, row, median(one.out_of_place.busbw_gb_s for _, one in rows))
        for rows in found
        for file, row in rows
        if row.out_of_place.busbw_gb_s < SHARE * median(one.out_of_place.busbw_gb_s for _, one in rows)
    ]
    if slow:
        speeds = [f"{row.out_of_place.busbw_gb_s:.2f} GB/s, and {middle:.2f} in the middle" for _, row, middle in slow]
        proofs = lines_of((file, row) for file, row, _ in slow[:4])
        return Found(Status.WARN, listed(speeds, 3), proofs=proofs)
    rows = [each for some in found for each in some]
    least, most = (pick(row.out_of_place.busbw_gb_s for _, row in rows) for pick in (min, max))
    return Found(
        Status.PASS, f"{least:.2f} to {most:.2f} GB/s in {plural(len(rows), 'run')}", proofs=lines_of(rows[:4])
    )


def _largest(job: Job) -> Mapping[tuple[str | None, int | None, int], list[tuple[str, Row]]]:
    """Return the row of the largest size of each run, by operation, ranks and size."""
    found: dict[tuple[str | None, int | None, int], list[tuple[str, Row]]] = defaultdict(list)
    for one in of(job, NcclTests):
        if one.rows:
            row = max(one.rows, key=lambda row: row.bytes)
            found[one.test, one.ranks, row.bytes].append((one.file, row))
    return found


CRITERIA = (
    Criterion(
        name="repeats-agree",
        title="Repeats of a run are equally fast",
        limit=f"each >= {SHARE:g} x the median, at the largest size",
        unit="GB/s",
        tolerance=f"a warning; {SHARE:g}, as in nccl-tests for NCCL_TESTS_MIN_BW",
        applies="several runs of nccl-tests with the same operation, ranks and largest size",
        source="R-4.4-8",
        look=_spread,
        missed=False,
    ),
)
