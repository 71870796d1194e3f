"""Logs of two H100 and of two H200 of one host each (driver 580.159.04, NCCL 2.28.9, PyTorch 2.11), names replaced.

Of `subsystems.txt` three lines of each form are left, and all channels.
"""

from pathlib import Path

import pytest

from toolkit.cli.verify import log_files
from toolkit.evidence.judge import judge
from toolkit.evidence.model import Reading
from toolkit.evidence.reader import read
from toolkit.evidence.tools.nccl_tests.model import NcclTests
from toolkit.evidence.tools.preflight.parser import Preflight
from toolkit.evidence.verdict import Request, Shape, Status, Verdict

LOGS = Path(__file__).parent / "logs"
TWO = Request(job="job", profile="dgx-h100", fabric="infiniband", shape=Shape(pods=1, gpus=2))


def readings(name: str) -> tuple[Reading, ...]:
    """Return what a log holds."""
    return read(LOGS / name)


def verdicts(name: str, request: Request = TWO) -> dict[str, Verdict]:
    """Return the verdicts of a log, by criterion."""
    return {one.criterion: one for one in judge([log_files.job([str(LOGS / name)], request)])}


@pytest.mark.parametrize(
    ("log", "transport", "channels"),
    [
        ("nvlink", "P2P/CUMEM", 48),
        ("torchrun-tee", "P2P/CUMEM", 48),
        ("subsystems", "P2P/IPC", 48),
        ("nccl-tests", "P2P/direct pointer", 48),
        ("shm", "SHM", 8),
        ("socket", "NET/Socket", 4),
    ],
)
def test_the_channels_of_a_first_run_are_read(log: str, transport: str, channels: int) -> None:
    """Each way of NCCL 2.28 between two GPUs of a host is known, behind torchrun's prefixes and times as well."""
    first = readings(f"h100/{log}.txt")[0].nccl
    assert first is not None
    assert (first.transports, first.nranks, first.initialised) == ({transport: channels}, 2, 2)


@pytest.mark.parametrize("log", sorted(str(path.relative_to(LOGS)) for path in LOGS.glob("h[12]00/*.txt")))
def test_no_line_of_nccl_is_left_unread(log: str) -> None:
    """All subsystems, a communicator of one rank, and the choice of an algorithm are read."""
    unread = [line.text for reading in readings(log) for line in reading.unread]
    assert [text for text in unread if "NCCL" in text and "torch-collectives" not in text] == []


@pytest.mark.parametrize(("log", "bandwidth"), [("nvlink", 287), ("shm", 9), ("socket", 1)])
def test_tables_of_torch_distributed_are_those_of_nccl_tests(log: str, bandwidth: int) -> None:
    """Four tables, each whole, with the factors of nccl-tests."""
    tables = [one for one in readings(f"h100/{log}.txt") if isinstance(one, NcclTests)]
    assert [one.test for one in tables] == ["all_reduce", "all_gather", "reduce_scatter", "alltoall"]
    assert [(one.complete, one.bus_factor) for one in tables] == [(True, 1.0), (True, 0.5), (True, 0.5), (True, 0.5)]
    assert tables[0].rows[-1].out_of_place.busbw_gb_s >= bandwidth * 0.5


@pytest.mark.parametrize(
    ("log", "expected", "measured"),
    [
        ("nvlink", Status.PASS, "channels by P2P/CUMEM: 112"),
        ("nccl-tests", Status.PASS, "channels by P2P/direct pointer: 48"),
        ("shm", Status.FAIL, "SHM"),
        ("socket", Status.FAIL, "NET/Socket"),
    ],
)
def test_what_does_not_go_over_nvlink_fails(log: str, expected: Status, measured: str) -> None:
    """Shared memory and sockets between GPUs of one pod fail, with the line of a channel."""
    found = verdicts(f"h100/{log}.txt")["transport-within-a-node"]
    assert found.status is expected
    assert measured in found.measured
    assert found.proofs


def test_reductions_in_switches_are_no_channels_within_a_node(tmp_path: Path) -> None:
    """CollNet goes between nodes, although its lines name no other rank."""
    log = tmp_path / "sharp.log"
    text = (LOGS / "h100/nvlink.txt").read_text()
    log.write_text(f"{text}worker-0:30:39 [0] NCCL INFO Coll 00 : 0 [send] via COLLNET/SHARP/0/GDRDMA\n")
    (found,) = [one for one in judge([log_files.job([str(log)], TWO)]) if one.criterion == "transport-within-a-node"]
    assert (found.status, found.measured) == (Status.PASS, "channels by P2P/CUMEM: 112")
    (run, *_) = [one.nccl for one in read(log) if one.nccl is not None and "COLLNET/SHARP" in one.nccl.transports]
    assert run.transports["COLLNET/SHARP"] == 1


def test_a_run_over_nvlink_passes_whole() -> None:
    """No criterion fails or lacks evidence, those of the second and later tables neither."""
    bad = {name: one.measured for name, one in verdicts("h100/nvlink.txt").items() if one.status is not Status.PASS}
    assert bad == {}


def test_gpus_are_counted_once_however_often_they_are_listed() -> None:
    """The list of devices before each table is of the same GPUs."""
    assert verdicts("h100/nvlink.txt")["gpu-model"].measured == "2 NVIDIA H100 80GB HBM3"


@pytest.mark.parametrize(
    ("log", "failed"),
    [
        ("healthy", {}),
        (
            "busy-gpu",
            {
                "preflight-gpu-faults": "gpu01: GPU 1 has 1011 MiB in use by others: end their processes",
                "preflight-speed": "gpu01: GPU 1 has 307.3 TFLOP/s in bf16, not 626, gpu01: GPU 1 has 1364 GB/s in its "
                "memory, not 2725",
            },
        ),
        (
            "gpu-missing-memlock",
            {
                "preflight-gpus": "gpu01: 1 GPU",
                "preflight-limits": "gpu01: memlock is 64 KiB, not unlimited",
            },
        ),
        ("no-gpu", {"preflight-gpus": "gpu01: 0 GPUs"}),
        (
            "slow-copy-small-shm",
            {
                "preflight-limits": "gpu01: /dev/shm has 64 MiB, not 1024",
                "preflight-speed": "gpu01: GPU 1 has 31.8 GB/s from the host, not 40",
            },
        ),
        ("small-shm", {"preflight-gpus": "gpu01: 1 GPU", "preflight-limits": "gpu01: /dev/shm has 64 MiB, not 1024"}),
    ],
)
def test_each_provoked_fault_is_named_with_its_node(log: str, failed: dict[str, str]) -> None:
    """A busy GPU, one that is hidden, locked memory and shared memory that are limited: each by its own criterion."""
    found = verdicts(f"preflight/{log}.txt")
    assert {name: one.measured for name, one in found.items() if one.status is Status.FAIL} == failed


def test_a_node_of_h200_is_fit() -> None:
    """Two sound H200 meet every limit of their machine, the speeds included."""
    request = TWO.model_copy(update={"profile": "dgx-h200"})
    measured = verdicts("h200/preflight.txt", request)
    assert {name: verdict.measured for name, verdict in measured.items() if verdict.status is not Status.PASS} == {}
    assert "preflight-speed" in measured


def test_what_was_not_measured_is_no_pass() -> None:
    """A pod without a GPU has no fault and no slow one, and that is missing evidence."""
    found = verdicts("preflight/no-gpu.txt")
    missing = {name for name, one in found.items() if one.status is Status.MISSING}
    assert missing == {"preflight-gpu-faults", "preflight-links", "preflight-speed"}
    assert found["preflight-speed"].proofs


def test_another_machine_is_not_the_profile() -> None:
    """A profile with other GPUs fails by their model."""
    other = TWO.model_copy(update={"profile": "dgx-h200"})
    found = verdicts("preflight/healthy.txt", other)["preflight-gpus"]
    assert found.measured.startswith("gpu01: GPU 0 is NVIDIA H100 80GB HBM3")
    assert found.limit == "2 NVIDIA H200 (dgx-h200)"


def test_a_test_that_was_cut_is_not_whole() -> None:
    """Without its last line the test of a node is incomplete."""
    (found,) = readings("preflight/healthy.txt")
    assert isinstance(found, Preflight)
    assert found.complete
    assert found.figures() == "gpu01: 2 GPUs, 690.5 TFLOP/s the slowest"
