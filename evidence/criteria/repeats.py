"""Whether repeats of a run measured the same: the median that is judged hides one that was slow."""

from collections import defaultdict
from collections.abc import Mapping
from statistics import median

from evidence.criteria.criterion import Criterion, Found, at, listed, of
from evidence.tools.nccl_tests.model import NcclTests, Row
from evidence.verdict import Job, Status

SHARE = 0.9
"""Of the median, which the slowest repeat is to have: as nccl-tests has it for NCCL_TESTS_MIN_BW."""


def _spread(job: Job) -> Found | None:
    found = [(size, rows) for size, rows in _largest(job).items() if len(rows) > 1]
    if not found:
        return None
    slow = [
        (file, row, size, median(one.out_of_place.busbw_gb_s for _, one in rows))
        for size, rows in found
        for file, row in rows
        if row.out_of_place.busbw_gb_s < SHARE * median(one.out_of_place.busbw_gb_s for _, one in rows)
    ]
    if slow:
        said = [f"{row.out_of_place.busbw_gb_s:.2f} GB/s, and {middle:.2f} in the middle" for _, row, _, middle in slow]
        proofs = tuple(proof for file, row, *_ in slow[:4] for proof in at(file, row.line))
        return Found(Status.WARN, listed(said, 3), proofs=proofs)
    rows = [each for _, some in found for each in some]
    proofs = tuple(proof for file, row in rows[:4] for proof in at(file, row.line))
    speeds = sorted(row.out_of_place.busbw_gb_s for _, row in rows)
    return Found(Status.PASS, f"{speeds[0]:.2f} to {speeds[-1]:.2f} GB/s in {len(rows)} runs", proofs=proofs)


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
        title="Repeats of a run are as fast as each other",
        limit=f"each >= {SHARE:g} x the median, at the largest size",
        unit="GB/s",
        tolerance=f"a warning; {SHARE:g}, as nccl-tests has it for NCCL_TESTS_MIN_BW (platform-facts 3.1)",
        applies="several runs of nccl-tests with the same operation, ranks and largest size",
        source="R-4.4-8",
        needs=("nccl-tests",),
        look=_spread,
        missed=False,
    ),
)
