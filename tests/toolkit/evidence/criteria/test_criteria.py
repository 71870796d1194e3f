"""Every criterion against a log that meets it, and one that does not; a module that the list lacks is refused."""

import re
from types import ModuleType

import pytest

from core.apis.names import LISTENER
from stacks.programs import PROGRAMS
from tests.toolkit.evidence.criteria.cases import (
    ANY,
    BY_NAME,
    CASES,
    DGX,
    ETHERNET,
    MTU,
    PORT_MTUS,
    ROCE,
    TABLE,
    TWO,
    Side,
    nccl,
    status,
)
from toolkit.evidence.criteria import COMPARISONS, CRITERIA, refuse_unlisted
from toolkit.evidence.criterion import Criterion
from toolkit.evidence.judge import evaluate
from toolkit.evidence.tools import EXCUSES, PARSERS
from toolkit.evidence.verdict import Request, Shape, Status

TOOLS = {parser.tool for parser in PARSERS} | {"nccl", "node-facts", "flight-recorder"}


def test_every_criterion_has_a_pair() -> None:
    """Every criterion has a log that meets it and one that does not, and stands once."""
    missing = [f"{name}.pass.log, {name}.fail.log" for name in BY_NAME if name not in CASES]
    assert not missing, f"add to tests/toolkit/evidence/logs/<tool>/: {'; '.join(missing)}"
    assert not CASES.keys() - BY_NAME.keys(), "rename or delete the logs that are named like no criterion"
    assert len(BY_NAME) == len(CRITERIA)


def _readers(name: str, side: Side) -> str:
    """Return which parsers that the criterion does not need have read a log, with the remedy."""
    tools = {reading.tool for reading in side.job().readings}
    if not tools:
        return f"{name}: read by no parser; match the first line of its output in `starts`"
    others = sorted(tools - {*BY_NAME[name].needs})
    return f"{name}: read by {', '.join(others)}; narrow its `starts`" if others else name


@pytest.mark.parametrize("name", CASES)
def test_a_log_that_meets_it_passes(name: str) -> None:
    """A log that meets a criterion passes it."""
    found = evaluate(BY_NAME[name], CASES[name].good.job())
    assert found is not None, _readers(name, CASES[name].good)
    assert (found.status, found.criterion) == (Status.PASS, name), f"{found}\n{_readers(name, CASES[name].good)}"


@pytest.mark.parametrize("name", CASES)
def test_a_log_that_does_not_fails(name: str) -> None:
    """A log that does not meet a criterion fails it, with the line that shows it."""
    case = CASES[name]
    found = evaluate(BY_NAME[name], case.bad.job())
    assert found is not None, _readers(name, case.bad)
    assert found.status is case.status, f"{found}\n{_readers(name, case.bad)}"
    assert bool(found.proofs) is case.lines, found
    assert found.measured


@pytest.mark.parametrize("criterion", [*CRITERIA, *COMPARISONS], ids=lambda one: one.name)
def test_each_says_what_it_asks_and_where_that_is_from(criterion: Criterion) -> None:
    """Every criterion names its limit, the jobs that it applies to, and its source."""
    assert re.fullmatch(r"[a-z]+(?:-[a-z]+)*", criterion.name), "name it with letters and hyphens"
    assert criterion.title
    assert criterion.limit
    assert criterion.applies
    said = f"{criterion.name}: neither an id of docs/coverage/sources.md (R-4.4-3) nor a page (docs.nvidia.com/dgx)"
    assert re.search(r"\b[RSNDBE]-\d|\w\.[a-z]{2,}/\w|the program's file", criterion.source), said
    assert not isinstance(criterion, Criterion) or {*criterion.needs} <= TOOLS


def test_every_tool_that_is_named_has_a_parser() -> None:
    """The tools that programs name, and those with excuses, have parsers."""
    assert {tool for program in PROGRAMS.values() for tool in program.prints} <= {*TOOLS, "nccl"}
    assert {*EXCUSES} <= TOOLS


def test_a_transport_that_no_log_shows_is_missing_evidence() -> None:
    """A job without NCCL_DEBUG has no evidence of its transport."""
    for name in ("transport-between-nodes", "gpudirect", "hcas-used"):
        assert status(name, TABLE, TWO) is Status.MISSING
    assert status("transport-between-nodes", TABLE, DGX) is None


def test_single_gpus_keep_to_the_hca_beside_them() -> None:
    """Pods with one GPU each, which is beside any HCA, get no warning of planes."""
    crossed = CASES["same-hca"].bad.log
    assert status("same-hca", crossed, TWO) is Status.WARN
    assert status("same-hca", crossed, TWO.model_copy(update={"shape": Shape(pods=16, gpus=1)})) is None


def test_an_hca_of_every_host_is_asked_for() -> None:
    """HCAs of one host do not count for the others."""
    one_host = "\n".join(line for line in nccl().splitlines() if "worker-1:30:30" not in line)
    assert status("hcas-used", one_host, TWO) is Status.MISSING


@pytest.mark.parametrize(
    "change",
    [
        {"profile": "dgx-a100"},
        {"profile": None},
        {"fabric": "roce"},
        {"shape": Shape(pods=4, gpus=4)},
        {"transport": "tcp"},
        {"transport": "infiniband"},
    ],
)
def test_no_number_is_invented(change: dict[str, object]) -> None:
    """The Redpaper's figures judge only the machine, fabric, shape and transport that it measured."""
    request = Request.model_validate({**dict(TWO), **change})
    for name in ("small-message-latency", "bus-bandwidth", "average-bus-bandwidth"):
        assert status(name, TABLE, request) is None


def test_of_repeats_the_median_counts() -> None:
    """Of repeats the median is judged, as the Redpaper does."""
    fast, slow = CASES["bus-bandwidth"].good.log, CASES["bus-bandwidth"].bad.log

    def of_runs(*runs: str) -> Status | None:
        return status("bus-bandwidth", "".join(runs), TWO)

    assert of_runs(fast, slow, fast, slow, fast) is Status.PASS
    assert of_runs(slow, slow, fast, slow, fast) is Status.FAIL


def test_the_paper_meets_its_own_measure() -> None:
    """The Redpaper's own run passes the limits."""
    others = {"single-gpu-pods", "repeats-agree", "public-bus-bandwidth"}
    request = TWO.model_copy(update={"program": "nccl-all-reduce"})
    for name in (one.name for one in CRITERIA if one.needs == ("nccl-tests",) and one.name not in others):
        assert status(name, TABLE, request) is Status.PASS, name


def test_lists_of_hosts_that_only_root_may_see_are_not_missed() -> None:
    """On RHCOS, where umad devices are root's, the list of hosts is not missing evidence."""
    request = DGX.model_copy(update={"program": "rdma-test"})
    silent = "# whoami\nroot\n"
    assert status("fabric-consistent", silent, request) is Status.MISSING
    assert status("fabric-consistent", f"{silent}mlx5_0: {EXCUSES['ibhosts']}\n", request) is None


def test_the_listener_prints_its_bandwidth_only() -> None:
    """The RDMA test's listener is judged by its bandwidth alone."""
    request = DGX.model_copy(update={"program": "rdma-test", "job": f"adas/mofed-test-job{LISTENER}"})
    log = CASES["unprivileged-user"].good.log.partition("+ ib_write_bw")[2]
    assert status("ports-active", log, request) is None
    assert status("ib-write-bandwidth", log, request) is Status.PASS


def test_a_program_without_output_is_missing_evidence() -> None:
    """A job without its program's output has missing evidence."""
    printed = {name: program.prints for name, program in PROGRAMS.items()} | {"rdma-test": ()}
    for program, tools in printed.items():
        request = ANY.model_copy(update={"program": program, "prints": tools, "fabric": "infiniband"})
        job = Side("nothing\n", request).job()
        found = [verdict for one in CRITERIA if (verdict := evaluate(one, job)) is not None]
        assert all(one.status is Status.MISSING for one in found), program
        assert len(found) > 1 or not {*tools} - {"deeplearningexamples"}, program


def test_ports_of_roce_are_measured_by_the_settings() -> None:
    """Small packets of RoCE fail against `fabric.ports.mtu`, and warn without it; the pod network's do not count."""
    free = ROCE.model_copy(update={"port_mtu": None})
    small = PORT_MTUS.replace("9216", "1500")
    assert [status("port-mtu", small, one) for one in (ROCE, free)] == [Status.FAIL, Status.WARN]
    enough = PORT_MTUS.replace("9216", "4192")
    assert [status("port-mtu", enough, one) for one in (ROCE, free)] == [Status.FAIL, Status.PASS]
    assert status("port-mtu", small, DGX.model_copy(update={"program": "rdma-test"})) is None


def test_rdmas_packets_are_no_mtu() -> None:
    """Packets of 4096 bytes do not show an MTU of 9216, and those of 1024 show that it is not there."""
    log = CASES["ib-write-bandwidth"].good.log
    assert status("port-mtu", log, ROCE) is Status.MISSING
    assert status("port-mtu", log, ROCE.model_copy(update={"port_mtu": None})) is None
    assert status("port-mtu", PORT_MTUS + log.replace("4096[B]", "1024[B]"), ROCE) is Status.FAIL
    assert status("port-mtu", PORT_MTUS + log, ROCE) is Status.PASS


def test_packets_are_compared_with_the_request() -> None:
    """A small MTU fails against `pod_mtu`, and is a warning without it."""
    assert status("pod-mtu", MTU.replace("9000", "1450"), ETHERNET) is Status.WARN
    request = ETHERNET.model_copy(update={"pod_mtu": 8900})
    assert status("pod-mtu", MTU.replace("9000", "1450"), request) is Status.FAIL
    assert status("pod-mtu", MTU.replace("9000", "8900"), request) is Status.PASS


ONE = Criterion(name="c", title="", limit="", applies="", source="", needs=(), judge=lambda _: None)


@pytest.mark.parametrize("parts", [{}, {"CRITERIA": (ONE,)}], ids=["none", "not-listed"])
def test_a_module_that_judges_no_job_is_refused(parts: dict[str, object]) -> None:
    """A module without criteria, or whose criteria are not listed, fails at import."""
    module = ModuleType("toolkit.evidence.criteria.made")
    vars(module).update(parts)
    with pytest.raises(TypeError, match=r"toolkit/evidence/criteria/made\.py.*CRITERIA"):
        refuse_unlisted([module])
