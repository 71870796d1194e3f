"""`./hpc hardware check` of a stack with pools: nodes that are of another kind than their pool."""

import re

import pytest

from core.hardware.profiles import PROFILES, Profile
from stacks.loading import settings
from tests.support.node_outputs import readings
from tests.support.recorded import ROOT
from tests.support.simulated_nodes import job_log
from toolkit.cli.hardware.check import compared
from toolkit.cli.shared.errors import Problem

MIXED = settings.load("mixed", ROOT)
MACHINES = {pool.name: pool.machine for pool in MIXED.gpu_pools}


@pytest.mark.parametrize(
    ("printed", "machine"),
    [
        (MACHINES["training"], "dgx-h100 of pool training"),
        (MACHINES["former"], "a100-pcie-server of pool former"),
        (PROFILES["dgx-b200"], "dgx-b200"),
        (MACHINES["inference"].model_copy(update={"gpu": PROFILES["dgx-b200"].gpu}), "an unknown one"),
    ],
)
def test_a_node_that_is_swapped_for_another_kind_is_found(printed: Profile, machine: str) -> None:
    """A node that prints another machine's outputs than its pool's is named with both, and the pools of both."""
    first, *_ = compared(MIXED, "l40s-01.mixed.example.com", readings(job_log(printed))).differences
    assert str(first) == (
        f"machine: expected l40s-server of pool inference, found {machine}; "
        "Name the pool of its own machine as its `pool`, or swap the node back"
    )


def test_two_lines_that_do_not_agree_are_not_compared() -> None:
    """What two lines contradict is named with both, everything else is compared; outputs of two nodes are refused."""
    log = job_log(MACHINES["inference"])
    odd = re.sub(r"MemTotal: +(\d+) kB\n", r"\g<0>MemTotal: 4699 kB\n", log)
    found = compared(MIXED, "l40s-01.mixed.example.com", readings(odd))
    assert found.differences == []
    lines = [str(each) for each in found.unknown]
    assert any(
        line.startswith("MemTotal, KiB: not compared: two lines do not agree: MemTotal, KiB: ") for line in lines
    )
    with pytest.raises(Problem, match="the outputs are of several nodes:\nGPU0: UUID: "):
        compared(MIXED, "l40s-01.mixed.example.com", readings(log, log.replace("GPU-", "GPU-0")))


@pytest.mark.parametrize("name", ["inference", "former"])
def test_a_node_of_its_pool_is_not_swapped(name: str) -> None:
    """A node that prints what its pool's machine prints has no difference."""
    node = next(node.name for node in MIXED.gpu_nodes if node.pool == name)
    assert compared(MIXED, node, readings(job_log(MACHINES[name]))).differences == []
