"""Logs that were cut, and jobs that go on: what is not there yet is missing evidence, and no failure."""

import pytest

from tests.toolkit.evidence.criteria.cases import (
    A100,
    BY_NAME,
    DGX,
    EDITED,
    EIGHT,
    MLPERF,
    NODES,
    TABLE,
    TWO,
    Side,
    changed,
    cluster_node,
    document,
    status,
)
from tests.toolkit.evidence.tools.logs import MLPERF as MLP
from toolkit.evidence.judge import evaluate
from toolkit.evidence.verdict import Ended, Job, Request, Shape, Status

SMI = document("nvidia-smi/r-4.4-2.log")
LSCPU = f"NUMA node(s): 8\n{document('lscpu/d-2.5.log')}"
HEAD = TABLE[: TABLE.index("#       size")]
"""Of a table, up to its first row."""
STOPS = MLP[: MLP.rindex(":::MLP", 0, MLP.index("run_stop"))]
SOME = HEAD[: HEAD.index("#   Rank 10")]


@pytest.mark.parametrize(
    ("name", "log", "wanted"),
    [
        ("gpus-present", SMI[: SMI.index("| 3  Tesla")], DGX),
        ("numa-nodes", LSCPU[: LSCPU.index("NUMA node5")], A100),
        ("figures-agree", HEAD, TWO),
        ("test-ran", HEAD, TWO),
        ("ranks-are-gpus", SOME, TWO),
        ("bus-ids", SOME, TWO),
        ("quality-target", changed(STOPS, ("0.3811", "0.3611")), MLPERF),
    ],
)
def test_a_log_that_was_cut_is_no_failure(name: str, log: str, wanted: Request) -> None:
    """A log that ends early is missing evidence, not a failure; a table without a row does not pass."""
    assert status(name, log, wanted) is Status.MISSING


def test_a_job_that_goes_on_may_yet_show_its_ranks() -> None:
    """A training whose last ranks have not printed yet does not fail."""
    assert status("rates-of-all-ranks", EDITED, EIGHT) is Status.FAIL
    assert status("rates-of-all-ranks", EDITED, EIGHT, Ended.RUNNING) is Status.MISSING


def test_what_is_wrong_stays_wrong_however_the_log_ends() -> None:
    """A GPU with other memory and CPUs on another node fail, however the log ends."""
    cut = SMI[: SMI.index("| 3  Tesla")]
    assert status("gpus-present", cut.replace("16160MiB", "32480MiB"), DGX) is Status.FAIL
    assert status("numa-nodes", changed(LSCPU, ("16-31,144-159", "16-31")), A100, Ended.RUNNING) is Status.FAIL
    four = TWO.model_copy(update={"shape": Shape(pods=4, gpus=1)})
    assert status("ranks-are-gpus", HEAD, four, Ended.RUNNING) is Status.FAIL


def test_minutes_are_those_of_the_benchmark_that_was_asked_for() -> None:
    """The run of one benchmark is not compared with another's minutes."""
    assert status("mlperf-band", MLP, MLPERF) is Status.PASS
    for name in ("mlperf-band", "quality-target"):
        assert status(name, MLP, MLPERF.model_copy(update={"program": "gnmt"})) is Status.MISSING


def test_single_gpus_on_more_nodes_than_need_be_are_well_placed() -> None:
    """Pods of one GPU, spread over three nodes, pass."""
    log = document("nccl-tests/redp5610-4.4-16x01.log")
    request = TWO.model_copy(update={"shape": Shape(pods=16, gpus=1), "nodes": ("dgx01", "dgx02", "dgx03")})
    assert status("bus-ids", log, request) is None
    assert status("bus-ids", log, request.model_copy(update={"nodes": ("dgx01", "dgx02")})) is not None


def test_nodes_that_take_no_pods_offer_nothing() -> None:
    """A cordoned node fails, and a cluster without known nodes is missing evidence."""
    cordoned = cluster_node("dgx02").model_copy(update={"schedulable": False})
    found = evaluate(BY_NAME["nodes-offer"], Side("", NODES, (cluster_node("dgx01"), cordoned)).job())
    assert found is not None
    assert (found.status, found.measured) == (Status.FAIL, "dgx02: cordoned")
    facts = Side("", NODES, (cluster_node("dgx01"),)).job().readings[0]
    none = Job(
        request=NODES.model_copy(update={"nodes": ()}),
        ended=Ended.UNKNOWN,
        readings=(facts.model_copy(update={"nodes": ()}),),
    )
    found = evaluate(BY_NAME["nodes-offer"], none)
    assert found is not None
    assert found.status is Status.MISSING
