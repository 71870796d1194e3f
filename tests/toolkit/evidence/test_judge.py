"""Judging whole jobs."""

import gzip
import os
from pathlib import Path

import pytest

from core.apis.nccl import Transport
from tests.support.mutated import mutations, read_text
from tests.toolkit.evidence.criteria.cases import (
    A100,
    CASES,
    EDITED,
    ETHERNET,
    FOUR,
    MLPERF,
    RATES,
    TABLE,
    TWO,
    Side,
    nccl,
    slower,
)
from toolkit.evidence.judge import FAILED, NOT_ENOUGH, PASSED, exit_status, judge, proofs
from toolkit.evidence.reader import read
from toolkit.evidence.verdict import Ended, Job, Proof, Request, Shape, Status, Verdict

RESNET = {"program": "resnet50", "profile": "dgx1-v100-16gb", "fabric": "infiniband"}
A2D2 = {**RESNET, "program": "a2d2"}


def _job(folder: Path, log: str, request: Request, name: str = "job.log") -> Job:
    file = folder / name
    file.write_text(log)
    return Job(request=request, ended=Ended.UNKNOWN, readings=read(file))


def _verdict(status: Status) -> Verdict:
    return Verdict(criterion="one", job="job", status=status, measured="", limit="", source="")


def test_a_sound_job_passes(tmp_path: Path) -> None:
    """A log that holds everything passes."""
    found = judge([_job(tmp_path, nccl() + TABLE, TWO)])
    assert {one.status for one in found} == {Status.PASS}
    assert exit_status(found) == PASSED
    assert {one.criterion for one in found} >= {
        "complete-logs",
        "transport-between-nodes",
        "gpudirect",
        "bus-bandwidth",
    }


@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        ([], NOT_ENOUGH),
        ([Status.WARN], NOT_ENOUGH),
        ([Status.PASS], PASSED),
        ([Status.PASS, Status.WARN], PASSED),
        ([Status.PASS, Status.MISSING], NOT_ENOUGH),
        ([Status.PASS, Status.MISSING, Status.FAIL], FAILED),
    ],
)
def test_exit_status(statuses: list[Status], status: int) -> None:
    """A job without evidence does not pass, and a failure outweighs missing evidence."""
    assert exit_status([_verdict(one) for one in statuses]) == status


def test_a_job_without_logs_is_missing_evidence_once() -> None:
    """A job without logs has one missing verdict, not twenty."""
    for ended in (Ended.ABSENT, Ended.WAITING, Ended.RUNNING):
        found = judge([Job(request=TWO, ended=ended, readings=())])
        assert [(one.criterion, one.status) for one in found] == [
            ("job-ended", Status.MISSING),
            ("complete-logs", Status.MISSING),
        ]


def test_a_job_that_waits_says_what_for() -> None:
    """A job that waits for a device that does not exist shows that cause."""
    why = "0/7 nodes are available: 2 Insufficient rdma/shared_ib9, 5 Insufficient nvidia.com/gpu."
    found, _ = judge([Job(request=TWO, ended=Ended.WAITING, why=why, readings=())])
    assert (found.status, found.measured) == (Status.MISSING, f"waiting: {why}")
    assert ["`fabric.plugin`" in cause for cause in found.causes] == [True, False]
    assert exit_status([found]) == NOT_ENOUGH


def test_a_cut_table_is_no_pass(tmp_path: Path) -> None:
    """A truncated table is missing evidence."""
    whole = nccl() + TABLE
    cut = "".join(whole.splitlines(keepends=True)[:-2])
    found = judge([_job(tmp_path, cut, TWO)])
    assert exit_status(found) == NOT_ENOUGH
    assert next(one.criterion for one in found if one.status is Status.MISSING) == "complete-logs"


def test_lines_that_no_tool_read_are_counted(tmp_path: Path) -> None:
    """Lines that could not be read are counted in the verdict."""
    (complete,) = (
        one
        for one in judge([_job(tmp_path, f"{nccl()}{TABLE}noise\nnoise\n", TWO)])
        if one.criterion == "complete-logs"
    )
    assert (complete.status, complete.measured) == (Status.PASS, "1 complete, 2 lines not read")


def test_a_cut_log_that_says_why_fails(tmp_path: Path) -> None:
    """A cut log that shows why the program ended is a failure."""
    log = "+ ib_write_bw dgx02 -d mlx5_1\nCouldn't allocate MR\nfailed to create mr\n"
    (ended, complete, *_) = judge(
        [
            _job(tmp_path, log, TWO.model_copy(update={"program": "rdma-test"})).model_copy(
                update={"ended": Ended.FAILED}
            )
        ]
    )
    assert (ended.criterion, ended.status) == ("job-ended", Status.FAIL)
    assert (complete.criterion, complete.status) == ("complete-logs", Status.FAIL)
    assert "`machine_config_pool`" in complete.causes[0]
    assert (2, "Couldn't allocate MR") in [(proof.line, proof.text) for proof in complete.proofs]


NO_LIBRARY = (
    "2020-07-06 15:52:01.000001: W tensorflow/stream_executor/platform/default/dso_loader.cc:55] Could not load "
    "dynamic library 'libnvinfer.so.6'; dlerror: libnvinfer.so.6: cannot open shared object file: "
    "No such file or directory\n"
)
"""In the form of TensorFlow 2.1, where the image has no TensorRT."""
KILLED = "mpirun noticed that process rank 1 with PID 91 on node worker-0 exited on signal 9 (Killed).\n"


@pytest.mark.parametrize(
    ("first", "last", "status"),
    [
        (NO_LIBRARY, "", Status.MISSING),
        ("", NO_LIBRARY, Status.MISSING),
        ("python: can't open file 'x.py': [Errno 2] No such file or directory\n", "", Status.MISSING),
        ("", KILLED, Status.FAIL),
    ],
)
def test_what_a_program_did_without_did_not_end_it(tmp_path: Path, first: str, last: str, status: Status) -> None:
    """A line after which the program went on does not turn a cut log into a failure."""
    cut = "".join(TABLE.splitlines(keepends=True)[:-2])
    found = {one.criterion: one for one in judge([_job(tmp_path, first + nccl() + cut + last, TWO)])}
    assert found["complete-logs"].status is status
    assert bool(found["complete-logs"].causes) is (status is Status.FAIL)


def test_lines_are_shown_as_they_stand_in_the_file(tmp_path: Path) -> None:
    """A proof is the text of the line that it names, also in a compressed file."""
    file = tmp_path / "log.gz"
    file.write_bytes(gzip.compress(b"one\n[1,0]<stdout>:two\nthree\n"))
    assert proofs(str(file), [3, 2]) == {
        2: Proof(file=str(file), line=2, text="two"),
        3: Proof(file=str(file), line=3, text="three"),
    }
    assert proofs(str(file), []) == proofs("-", [1]) == proofs(str(tmp_path / "gone"), [1]) == {}
    job = _job(tmp_path, TABLE, TWO)
    (slow,) = (one for one in judge([job]) if one.criterion == "bus-bandwidth")
    assert [(proof.line, "268435456" in proof.text) for proof in slow.proofs] == [(48, True)]


def test_a_pipe_is_not_read_again(tmp_path: Path) -> None:
    """A named pipe is not read again for its lines."""
    os.mkfifo(tmp_path / "log")
    assert proofs(str(tmp_path / "log"), [1]) == {}


def test_a_failure_names_its_cause(tmp_path: Path) -> None:
    """A silent fallback to TCP names its cause and remedy."""
    log = nccl().replace("NET/IB/0/GDRDMA", "NET/Socket/0") + slower(TABLE, 10)
    found = {one.criterion: one for one in judge([_job(tmp_path, log, TWO)])}
    for name in ("transport-between-nodes", "bus-bandwidth"):
        assert found[name].status is Status.FAIL
        assert any("fell back to TCP" in cause for cause in found[name].causes)


def test_what_is_seen_is_reported_only_without_a_known_cause(tmp_path: Path) -> None:
    """A cause of last resort is shown only where no other explains the failure."""
    said = "worker:1:1 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1."
    log = nccl().replace("NET/IB/0/GDRDMA", "NET/Socket/0") + said
    found = {one.criterion: one for one in judge([_job(tmp_path, log, TWO)])}
    (cause,) = found["transport-between-nodes"].causes
    assert cause.startswith("NCCL is configured not to use InfiniBand")


def _rates(folder: Path, total: float, pods: int, gpus: int, name: str) -> Job:
    log = EDITED.replace("total images/sec: 84", f"total images/sec: {total / 100:.0f}")
    request = Request.model_validate({**RESNET, "job": name, "shape": Shape(pods=pods, gpus=gpus)})
    return _job(folder, log, request, f"{name}.log")


def test_scaling_from_one_node_to_two(tmp_path: Path) -> None:
    """Two nodes that train little faster than one fail."""
    one, good, bad = (
        _rates(tmp_path, total, pods, 8, name)
        for total, pods, name in ((7100, 1, "one"), (13700, 2, "good"), (12800, 2, "bad"))
    )
    found = {verdict.job: verdict for verdict in judge([one, good, bad]) if verdict.criterion == "scaling"}
    assert {job: verdict.status for job, verdict in found.items()} == {
        "one to good": Status.PASS,
        "one to bad": Status.FAIL,
    }
    assert found["one to good"].measured == "1.929 (7,101 to 13,701 images/s)"
    assert [Path(proof.file).name for proof in found["one to good"].proofs] == ["one.log", "good.log"]


def test_scaling_is_of_pods_alike_only(tmp_path: Path) -> None:
    """Scaling is judged only between layouts that the Redpaper compares."""
    eight, sixteen = _rates(tmp_path, 7100, 1, 8, "one"), _rates(tmp_path, 13700, 16, 1, "two")
    assert [one for one in judge([eight, sixteen]) if one.criterion == "scaling"] == []


def test_the_penalty_of_single_gpu_pods(tmp_path: Path) -> None:
    """A loss of single-GPU pods beyond the Redpaper's is a warning, on the same GPUs only."""
    jobs = [
        _rates(tmp_path, total, pods, gpus, name)
        for total, pods, gpus, name in (
            (7100, 1, 8, "1x8"),
            (6000, 8, 1, "8x1"),
            (13700, 2, 8, "2x8"),
            (11300, 16, 1, "16x1"),
        )
    ]
    found = {verdict.job: verdict for verdict in judge(jobs) if verdict.criterion == "single-gpu-penalty"}
    assert {job: verdict.status for job, verdict in found.items()} == {
        "1x8 to 8x1": Status.PASS,
        "2x8 to 16x1": Status.WARN,
    }
    assert found["2x8 to 16x1"].measured == "17.5% (13,701 to 11,301 images/s)"


@pytest.mark.parametrize(("seconds", "status"), [(740.0, Status.PASS), (790.0, Status.FAIL)])
def test_speed_up_of_a2d2(seconds: float, status: Status) -> None:
    """A training that takes 60 % of the time on twice the GPUs fails."""
    one, two = (
        Job(
            request=Request.model_validate({**A2D2, "job": name, "shape": Shape(pods=pods, gpus=1)}),
            ended=Ended.SUCCEEDED,
            seconds=taken,
            readings=(),
        )
        for name, pods, taken in (("one", 8, 1328.0), ("two", 16, seconds))
    )
    (found,) = (verdict for verdict in judge([one, two]) if verdict.criterion == "speed-up")
    assert (found.job, found.status) == ("one to two", status)
    last = judge([one.model_copy(update={"ended": Ended.RUNNING}), two])[-1]
    assert (last.criterion, last.status, last.measured) == (
        "speed-up",
        Status.MISSING,
        "no run time to the end of one",
    )
    tcp = two.model_copy(update={"request": two.request.model_copy(update={"transport": Transport.TCP})})
    assert judge([one, tcp])[-1].criterion != "speed-up"


def test_an_edited_log_is_flagged() -> None:
    """The edited rates of the NVIDIA AI Enterprise guide fail."""
    edited, sound = (Side(log, FOUR).job() for log in (EDITED, RATES))
    assert exit_status(judge([edited])) == FAILED
    assert exit_status(judge([sound])) == PASSED


def test_no_cut_log_passes() -> None:
    """A log that ends early does not pass, wherever that is."""
    lines = (nccl() + TABLE).splitlines(keepends=True)
    for count in range(len(lines)):
        cut = "".join(lines[:count]) + lines[count][: len(lines[count]) // 2]
        found = judge([Side(cut, TWO).job()])
        assert exit_status(found) != PASSED, f"cut in line {count + 1}: {cut[-60:]!r}"


def test_damage_is_judged_without_an_error() -> None:
    """A damaged log, or one of another machine, is judged without an error."""
    others = [TWO, A100, MLPERF, ETHERNET, FOUR]
    for seed, (name, case) in enumerate(CASES.items()):
        for number, text in enumerate(mutations(case.good.log or name, 1, seed), seed):
            readings = read_text(text)
            for request in (case.good.request, others[number % len(others)]):
                assert isinstance(judge([Job(request=request, ended=Ended.UNKNOWN, readings=readings)]), tuple)
