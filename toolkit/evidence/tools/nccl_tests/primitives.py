"""The primitives that nccl-tests measures, how it makes bus bandwidth of algorithm bandwidth, and which a table is of.

Sources: doc/PERFORMANCE.md and `*GetBw` of each src/*.cu of NVIDIA/nccl-tests at its versions, its issues 45 and 214.
"""

from collections.abc import Callable, Mapping
from math import isclose
from typing import NamedTuple

from pydantic import Field

from core.apis.nccl import BUS_FACTORS
from core.model import Model
from toolkit.evidence.criterion import Criterion, Outcome, proofs_at, readings_of
from toolkit.evidence.tools.nccl_tests.model import NcclTests
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed

Factor = Callable[[int], float]


def _alltoall_of_2020(ranks: int) -> float:
    return ranks / (ranks - 1) if ranks > 1 else 0.0


class Variant(NamedTuple):
    """How a version makes bandwidths of a time."""

    factor: Factor
    """busbw / algbw by ranks."""
    sent_only: bool = False
    """Whether algbw leaves out what a rank keeps: it is (n-1)/n of size / time."""


def _today(name: str, *, sent_only: bool = False) -> Variant:
    return Variant(BUS_FACTORS[name], sent_only=sent_only)


_SENT_ONLY = _today("hypercube", sent_only=True)


class Primitive(Model):
    """One program of nccl-tests."""

    name: str = Field(description="of the program without _perf, e.g. all_reduce")
    variants: tuple[Variant, ...] = Field(description="today's first, then that of old versions")
    reduces: bool | None = Field(description="whether its rows name an operation such as sum; None: some versions'")
    rooted: bool = Field(description="whether its rows name the rank that is the root")
    by_rank: bool = Field(description="whether `count` is of one rank, and `size` of all ranks together")


_ALL: tuple[tuple[str, tuple[Variant, ...], bool | None, bool, bool], ...] = (
    # name, variants, reduces, rooted, by_rank
    ("all_gather", (_today("all_gather"), _SENT_ONLY), False, False, True),  # the second until June 2020 (issue 45)
    ("all_reduce", (_today("all_reduce"),), True, False, False),
    ("alltoall", (_today("alltoall"), Variant(_alltoall_of_2020)), False, False, True),
    ("broadcast", (_today("broadcast"),), False, True, False),
    ("gather", (_today("gather"),), False, True, True),
    ("hypercube", (_SENT_ONLY,), False, False, True),
    ("reduce", (_today("reduce"),), True, True, False),
    ("reduce_scatter", (_today("reduce_scatter"), _SENT_ONLY), True, False, True),
    ("scatter", (_today("scatter"),), False, True, True),
    ("sendrecv", (_today("sendrecv"),), None, False, False),  # prints `sum` in versions from 2.13 to 2.16 (issue 214)
)
PRIMITIVES: Mapping[str, Primitive] = {
    name: Primitive(name=name, variants=variants, reduces=reduces, rooted=rooted, by_rank=by_rank)
    for name, variants, reduces, rooted, by_rank in _ALL
}


WORD_BYTES: Mapping[str, int] = {
    "bfloat16": 2,
    "char": 1,
    "double": 8,
    "f8e4m3": 1,
    "f8e5m2": 1,
    "float": 4,
    "fp8_e4m3": 1,
    "fp8_e5m2": 1,
    "half": 2,
    "int": 4,
    "int32": 4,
    "int64": 8,
    "int8": 1,
    "uint32": 4,
    "uint64": 8,
    "uint8": 1,
}
"""Bytes of an element of each type that nccl-tests prints (`test_typenames` of src/common.cu)."""


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
