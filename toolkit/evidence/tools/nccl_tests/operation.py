"""Whether the operation that was measured is the requested one."""

from collections.abc import Mapping
from math import isclose

from toolkit.evidence.criterion import Criterion, Found, at, of
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


def is_of(one: NcclTests, test: str, ranks: int | None) -> bool | None:
    """Return whether a table is of a primitive, by its name, else by its bus factor; None: unknown."""
    if one.test is not None:
        return one.test == test
    count = one.group_ranks or ranks
    if one.bus_factor is None or count is None:
        return None
    return any(isclose(one.bus_factor, variant.factor(count)) for variant in PRIMITIVES[test].variants)


def _test(job: Job) -> Found | None:
    wanted = TESTS[job.request.program or ""]
    ranks = job.request.shape.total if job.request.shape else None
    tests = of(job, NcclTests)
    known = [(one, is_of(one, wanted, ranks)) for one in tests]
    other = [one for one, same in known if same is False]
    silent = [one for one, same in known if same is None]
    proofs = tuple(proof for one in other or silent or tests for proof in at(one.file, *_first_row(one)))
    if other:
        return Found(Status.FAIL, listed(sorted({_called(one) for one in other})), wanted, proofs)
    if silent:
        return Found(Status.MISSING, "the operation of the table could not be determined", wanted, proofs)
    return Found(Status.PASS, wanted, wanted, proofs)


def _called(one: NcclTests) -> str:
    return one.test or f"busbw = {one.bus_factor:g} x algbw"


def _first_row(one: NcclTests) -> tuple[int, ...]:
    return tuple(row.line for row in one.rows[:1]) or (one.first_line,)


CRITERIA = (
    Criterion(
        name="test-requested",
        title="The measured operation is the requested one",
        limit="the operation of the program, by its name, or by busbw / algbw where old versions print none",
        applies="programs that run nccl-tests",
        source="R-4.4-1, R-4.4-5, R-4.4-15",
        look=_test,
        when=lambda request: request.program in TESTS,
    ),
)
