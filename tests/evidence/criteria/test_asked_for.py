"""Whether what ran is what was asked for."""

import re

import pytest

from evidence.criteria.asked_for import TESTS
from evidence.judge import judge
from evidence.verdict import Ended, Job, Status, Verdict
from stacks.catalogue import CATALOGUE
from tests.evidence.criteria.cases import TABLE, TWO, changed, nccl
from tests.support.mutated import read_text

ALL_REDUCE = TWO.model_copy(update={"program": "nccl-all-reduce"})


def _verdicts(log: str) -> dict[str, Verdict]:
    job = Job(asked=ALL_REDUCE, ended=Ended.UNKNOWN, readings=read_text(log))
    return {verdict.criterion: verdict for verdict in judge([job])}


def _all_gather() -> str:
    """Return the paper's table as that of an all-gather of 16 ranks: half the bus bandwidth, and no sum."""

    def half(found: re.Match[str]) -> str:
        return f"{found[1]} {float(found[2]) * 0.9375:.2f}{found[3]}"

    return re.sub(r"(?m)(?<=\s)(\d+\.\d+ +(\d+\.\d\d)) +\d+\.\d\d( +\de-0\d)", half, TABLE.replace(" sum ", "     "))


def test_another_operation_is_no_all_reduce() -> None:
    """Prevents an all-gather of a version that prints no name from passing for the all-reduce that was asked for."""
    found = _verdicts(_all_gather())
    judged = found["test-asked-for"]
    assert (judged.status, judged.measured) == (Status.FAIL, "busbw = 0.9375 x algbw")
    assert found["bus-bandwidth"].status is Status.MISSING


def test_speed_is_missed_where_another_operation_ran() -> None:
    """Prevents the limits of bandwidth from vanishing without a word."""
    found = _verdicts(f"# Collective test starting: all_gather_perf\n{TABLE}")
    assert {found[name].status for name in ("bus-bandwidth", "small-message-latency")} == {Status.MISSING}


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("NVIDIA A100-SXM4-40GB", Status.FAIL),
        ("Tesla V100-SXM2-32GB", Status.FAIL),
        ("Tesla V100-PCIE-16GB", Status.FAIL),
        ("Tesla V100-SXM2...", Status.PASS),
        ("Tesla V100-SXM2-16GB", Status.PASS),
    ],
)
def test_names_of_gpus_are_compared_as_far_as_they_say(name: str, status: Status) -> None:
    """Prevents another GPU from being judged by the profile's limits, and a shortened name from failing."""
    assert _verdicts(changed(TABLE, ("Tesla V100-SXM2-16GB", name)))["gpu-model"].status is status


def test_storage_may_have_another_fabric() -> None:
    """Prevents an HCA that the job neither was given nor uses from failing it."""
    log = changed(nccl(), ("[3]mlx5_0:1/IB", "[3]mlx5_0:1/IB [4]mlx5_9:1/RoCE"))
    assert _verdicts(log)["link-layers"].status is Status.PASS


def test_programs_are_those_of_the_catalogue() -> None:
    """Prevents a program of nccl-tests whose operation nobody compares."""
    assert {program.value for program in CATALOGUE if program.value.startswith("nccl-")} | {"node-check"} == {*TESTS}
