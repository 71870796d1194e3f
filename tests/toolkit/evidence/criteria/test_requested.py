"""Whether the operation, the GPUs and the fabric are the requested ones."""

import re

import pytest

from stacks.programs import PROGRAMS
from tests.toolkit.evidence.criteria.cases import TABLE, TWO, changed, judged, nccl, status
from toolkit.evidence.tools.nccl_tests.primitives import TESTS
from toolkit.evidence.verdict import Status

ALL_REDUCE = TWO.model_copy(update={"program": "nccl-all-reduce"})


def _all_gather() -> str:
    """Return the paper's table as that of an all-gather of 16 ranks: half the bus bandwidth, and no sum."""

    def half(found: re.Match[str]) -> str:
        return f"{found[1]} {float(found[2]) * 0.9375:.2f}{found[3]}"

    return re.sub(r"(?m)(?<=\s)(\d+\.\d+ +(\d+\.\d\d)) +\d+\.\d\d( +\de-0\d)", half, TABLE.replace(" sum ", "     "))


def test_another_operation_is_no_all_reduce() -> None:
    """An all-gather of a version that prints no name does not pass for the requested all-reduce."""
    found = judged(_all_gather(), ALL_REDUCE)
    operation = found["test-requested"]
    assert (operation.status, operation.measured) == (Status.FAIL, "busbw = 0.9375 x algbw")
    assert found["bus-bandwidth"].status is Status.MISSING


@pytest.mark.parametrize(("program", "expected"), [("nccl-all-reduce", Status.MISSING), (None, None)])
def test_speed_is_missed_where_another_operation_ran(program: str | None, expected: Status | None) -> None:
    """Where another operation than the requested one ran, the limits of bandwidth are missing evidence."""
    request = TWO.model_copy(update={"program": program})
    for name in ("bus-bandwidth", "small-message-latency"):
        assert status(name, f"# Collective test starting: all_gather_perf\n{TABLE}", request) is expected
        assert status(name, TABLE, request) is Status.PASS


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("NVIDIA A100-SXM4-40GB", Status.FAIL),
        ("Tesla V100-SXM2-32GB", Status.FAIL),
        ("Tesla V100-PCIE-16GB", Status.FAIL),
        ("Tesla V100-SXM2...", Status.PASS),
        ("Tesla V100-SXM2-16GB", Status.PASS),
    ],
)
def test_names_of_gpus_are_compared_as_far_as_they_say(name: str, expected: Status) -> None:
    """Another GPU fails, and a shortened name passes."""
    assert judged(changed(TABLE, ("Tesla V100-SXM2-16GB", name)), ALL_REDUCE)["gpu-model"].status is expected


def test_storage_may_have_another_fabric() -> None:
    """An HCA that the job was neither given nor uses does not fail it."""
    log = changed(nccl(), ("[3]mlx5_0:1/IB", "[3]mlx5_0:1/IB [4]mlx5_9:1/RoCE"))
    assert judged(log, ALL_REDUCE)["link-layers"].status is Status.PASS


def test_programs_are_those_of_the_catalogue() -> None:
    """Every program of nccl-tests has the operation that it measures."""
    assert {program for program in PROGRAMS if program.startswith("nccl-")} | {"node-check"} == {*TESTS}
