"""The primitives that nccl-tests measures, and how it makes bus bandwidth of algorithm bandwidth.

Sources: doc/PERFORMANCE.md and `*GetBw` of each src/*.cu of NVIDIA/nccl-tests at its versions, its issues 45 and 214.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from pydantic import Field

from core.apis.nccl import BUS_FACTORS
from core.model import Model

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
