"""Whether the operation that was measured is the requested one."""

from collections.abc import Mapping
from math import isclose

from toolkit.evidence.criterion import Criterion, Outcome, proofs_at, readings_of
from toolkit.evidence.tools.nccl_tests.model import NcclTests
from toolkit.evidence.tools.nccl_tests.primitives import PRIMITIVES
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed

TESTS: Mapping[str, str] = {
    "nccl-all-reduce": "all_reduce",
    "nccl-all-gather": "all_gather",
    "nccl-broadcast": "broadcast",
    "nccl-reduce": "reduce",
    "nccl-reduce-scatter": "reduce_scatter",
    "node-check": "all_reduce",
}
"""Program of docs/reference/programs.md -> the primitive that it measures."""


def is_of(table: NcclTests, test: str, ranks: int | None) -> bool | None:
    """Return whether a table is of a primitive, by its name, else by its bus factor; None: unknown."""
    if table.test is not None:
        return table.test == test
    count = table.group_ranks or ranks
    if table.bus_factor is None or count is None:
        return None
    return any(isclose(table.bus_factor, variant.factor(count)) for variant in PRIMITIVES[test].variants)


def _test(job: Job) -> Outcome | None:
    expected = TESTS[job.request.program or ""]
    ranks = job.request.shape.total if job.request.shape else None
    tests = readings_of(job, NcclTests)
    matches = [(table, is_of(table, expected, ranks)) for table in tests]
    differing = [table for table, same in matches if same is False]
    undetermined = [table for table, same in matches if same is None]
    proofs = tuple(
        proof for table in differing or undetermined or tests for proof in proofs_at(table.file, *_first_row(table))
    )
    if differing:
        return Outcome(Status.FAIL, listed(sorted({_called(table) for table in differing})), expected, proofs)
    if undetermined:
        return Outcome(Status.MISSING, "the operation of the table could not be determined", expected, proofs)
    return Outcome(Status.PASS, expected, expected, proofs)


def _called(table: NcclTests) -> str:
    return table.test or f"busbw = {table.bus_factor:g} x algbw"


def _first_row(table: NcclTests) -> tuple[int, ...]:
    return tuple(row.line for row in table.rows[:1]) or (table.first_line,)


CRITERIA = (
    Criterion(
        name="test-requested",
        title="The measured operation is the requested one",
        limit="the operation of the program, by its name, or by busbw / algbw where old versions print none",
        applies="programs that run nccl-tests",
        source="R-4.4-1, R-4.4-5, R-4.4-15",
        judge=_test,
        when=lambda request: request.program in TESTS,
    ),
)
