"""The primitives that nccl-tests measures, and how it makes bus bandwidth of algorithm bandwidth.

Source: doc/PERFORMANCE.md and `*GetBw` of each src/*.cu of NVIDIA/nccl-tests, and inventory R-4.4-5, R-4.4-15.
"""

from collections.abc import Callable, Mapping

from pydantic import Field

from hardware.model import Model

Factor = Callable[[int], float]


def _all_reduce(ranks: int) -> float:
    return 2 * (ranks - 1) / ranks


def _without_own(ranks: int) -> float:
    return (ranks - 1) / ranks


def _one(_ranks: int) -> float:
    return 1.0


def _alltoall_of_2020(ranks: int) -> float:
    return ranks / (ranks - 1) if ranks > 1 else 0.0


class Primitive(Model):
    """One program of nccl-tests."""

    name: str = Field(description="of the program without _perf, e.g. all_reduce")
    factors: tuple[Factor, ...] = Field(description="busbw / algbw by ranks; today's first, then that of old versions")
    reduces: bool = Field(description="whether its rows name an operation such as sum")
    rooted: bool = Field(description="whether its rows name the rank that is the root")
    by_rank: bool = Field(description="whether `count` is of one rank, and `size` of all ranks together")
    sent_only: bool = Field(default=False, description="whether algbw leaves out what a rank keeps: (n-1)/n of size")


PRIMITIVES: Mapping[str, Primitive] = {
    one.name: one
    for one in (
        Primitive(name="all_gather", factors=(_without_own,), reduces=False, rooted=False, by_rank=True),
        Primitive(name="all_reduce", factors=(_all_reduce,), reduces=True, rooted=False, by_rank=False),
        Primitive(
            name="alltoall", factors=(_without_own, _alltoall_of_2020), reduces=False, rooted=False, by_rank=True
        ),
        Primitive(name="broadcast", factors=(_one,), reduces=False, rooted=True, by_rank=False),
        Primitive(name="gather", factors=(_without_own,), reduces=False, rooted=True, by_rank=True),
        Primitive(name="hypercube", factors=(_one,), reduces=False, rooted=False, by_rank=True, sent_only=True),
        Primitive(name="reduce", factors=(_one,), reduces=True, rooted=True, by_rank=False),
        Primitive(name="reduce_scatter", factors=(_without_own,), reduces=True, rooted=False, by_rank=True),
        Primitive(name="scatter", factors=(_without_own,), reduces=False, rooted=True, by_rank=True),
        Primitive(name="sendrecv", factors=(_one,), reduces=False, rooted=False, by_rank=False),
    )
}


def bus_factor(test: str, ranks: int) -> float:
    """Return busbw / algbw of a primitive for `ranks` ranks of one communicator. Raises KeyError for another test."""
    return PRIMITIVES[test].factors[0](ranks)


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
