"""Every criterion against a log that meets it, and one that does not."""

import re
from collections.abc import Sequence

import pytest

from apis.logs import LISTENER
from evidence.criteria import COMPARISONS, CRITERIA
from evidence.criteria.criterion import Criterion
from evidence.criteria.expected import EXCUSES, PROGRAMS
from evidence.tools import PARSERS
from evidence.verdict import Asked, Ended, Job, Shape, Status
from stacks.catalogue import CATALOGUE
from tests.evidence.criteria.cases import ANY, CASES, DGX, ETHERNET, MTU, TABLE, TWO, nccl
from tests.support.mutated import read_text

BY_NAME = {one.name: one for one in CRITERIA}
TOOLS = {parser.tool for parser in PARSERS} | {"nccl", "node-facts"}


def test_every_criterion_has_a_pair() -> None:
    """Prevents a criterion that no log was ever held against, and one that is there twice."""
    assert sorted(CASES) == sorted(BY_NAME)
    assert len(BY_NAME) == len(CRITERIA)


@pytest.mark.parametrize("name", CASES)
def test_a_log_that_meets_it_passes(name: str) -> None:
    """Prevents a criterion that a sound platform cannot meet."""
    found = BY_NAME[name].verdict(CASES[name].good.job())
    assert found is not None
    assert (found.status, found.criterion) == (Status.PASS, name), found


@pytest.mark.parametrize("name", CASES)
def test_a_log_that_does_not_fails(name: str) -> None:
    """Prevents a criterion that every platform meets, and a failure without the line that shows it."""
    case = CASES[name]
    found = BY_NAME[name].verdict(case.bad.job())
    assert found is not None
    assert found.status is case.status, found
    assert bool(found.proofs) is case.lines, found
    assert found.measured


@pytest.mark.parametrize("criterion", [*CRITERIA, *COMPARISONS], ids=lambda one: one.name)
def test_each_says_what_it_asks_and_where_that_is_from(criterion: Criterion) -> None:
    """Prevents a limit out of nowhere."""
    assert re.fullmatch(r"[a-z]+(?:-[a-z]+)*", criterion.name)
    assert criterion.title
    assert criterion.limit
    assert criterion.applies
    assert re.search(r"\b[RSNDBE]-\d", criterion.source)
    assert not isinstance(criterion, Criterion) or {*criterion.needs} <= TOOLS


def test_programs_are_those_of_the_catalogue() -> None:
    """Prevents a program whose absent output nobody misses, and a tool that has no parser."""
    assert {*PROGRAMS} == {program.value for program in CATALOGUE} | {"rdma-test"}
    assert frozenset().union(*PROGRAMS.values()) <= TOOLS
    assert {*EXCUSES} <= TOOLS


def _status(name: str, job: Job) -> Status | None:
    found = BY_NAME[name].verdict(job)
    return found.status if found else None


def _job(asked: Asked, log: str) -> Job:
    return Job(asked=asked, ended=Ended.UNKNOWN, readings=read_text(log) if log else ())


def test_a_transport_that_no_log_shows_is_missing_evidence() -> None:
    """Prevents a job without NCCL_DEBUG from passing for one over RDMA."""
    for name in ("transport-between-nodes", "gpudirect", "hcas-used"):
        assert _status(name, _job(TWO, TABLE)) is Status.MISSING
    assert _status("transport-between-nodes", _job(DGX, TABLE)) is None


def test_single_gpus_keep_to_the_hca_beside_them() -> None:
    """Prevents a warning of planes for every job whose pods have one GPU each, which is beside any HCA (D-3.6)."""
    crossed = CASES["same-hca"].bad.log
    assert _status("same-hca", _job(TWO, crossed)) is Status.WARN
    assert _status("same-hca", _job(TWO.model_copy(update={"shape": Shape(pods=16, gpus=1)}), crossed)) is None


def test_an_hca_of_every_host_is_asked_for() -> None:
    """Prevents the line of one host from standing for all of them."""
    one_host = "\n".join(line for line in nccl().splitlines() if "worker-1:30:30" not in line)
    assert _status("hcas-used", _job(TWO, one_host)) is Status.MISSING


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
    """Prevents the paper's figures from judging machines, fabrics, shapes and transports that it did not measure."""
    asked = Asked.model_validate({**dict(TWO), **change})
    for name in ("small-message-latency", "bus-bandwidth", "average-bus-bandwidth"):
        assert _status(name, _job(asked, TABLE)) is None


def test_of_repeats_the_median_counts() -> None:
    """Prevents one slow run of five from failing a platform, and three from passing it (the paper takes medians)."""
    fast, slow = CASES["bus-bandwidth"].good.log, CASES["bus-bandwidth"].bad.log

    def status(runs: Sequence[str]) -> Status | None:
        return _status("bus-bandwidth", _job(TWO, "".join(runs)))

    assert status([fast, slow, fast, slow, fast]) is Status.PASS
    assert status([slow, slow, fast, slow, fast]) is Status.FAIL


def test_the_paper_meets_its_own_measure() -> None:
    """Prevents limits that the documents' own run breaks (E-29)."""
    others = {"single-gpu-pods", "repeats-agree"}
    asked = TWO.model_copy(update={"program": "nccl-all-reduce"})
    for name in (one.name for one in CRITERIA if one.needs == ("nccl-tests",) and one.name not in others):
        assert _status(name, _job(asked, TABLE)) is Status.PASS, name


def test_lists_of_hosts_that_only_root_may_see_are_not_missed() -> None:
    """Prevents a sound RHCOS, where umad devices are root's, from never having enough evidence."""
    asked = DGX.model_copy(update={"program": "rdma-test"})
    silent = "# whoami\nroot\n"
    assert _status("fabric-alike", _job(asked, silent)) is Status.MISSING
    assert _status("fabric-alike", _job(asked, f"{silent}mlx5_0: {EXCUSES['ibhosts']}\n")) is None


def test_the_listener_prints_its_bandwidth_only() -> None:
    """Prevents the other end of the RDMA test from lacking evidence that it never prints."""
    asked = DGX.model_copy(update={"program": "rdma-test", "job": f"adas/mofed-test-job{LISTENER}"})
    log = CASES["unprivileged-user"].good.log.partition("+ ib_write_bw")[2]
    assert _status("ports-active", _job(asked, log)) is None
    assert _status("ib-write-bandwidth", _job(asked, log)) is Status.PASS


def test_a_program_without_output_is_missing_evidence() -> None:
    """Prevents a job that printed nothing of its program from passing."""
    for program, tools in PROGRAMS.items():
        job = _job(ANY.model_copy(update={"program": program, "fabric": "infiniband"}), "nothing\n")
        found = [verdict for one in CRITERIA if (verdict := one.verdict(job)) is not None]
        assert all(one.status is Status.MISSING for one in found), program
        assert len(found) > 1 or not tools - {"deeplearningexamples"}, program


def test_packets_are_held_against_what_was_asked() -> None:
    """Prevents a pod network of 1450 bytes where the settings say 8900, and advice alone where they say it."""
    assert _status("pod-mtu", _job(ETHERNET, MTU.replace("9000", "1450"))) is Status.WARN
    asked = ETHERNET.model_copy(update={"pod_mtu": 8900})
    assert _status("pod-mtu", _job(asked, MTU.replace("9000", "1450"))) is Status.FAIL
    assert _status("pod-mtu", _job(asked, MTU.replace("9000", "8900"))) is Status.PASS
