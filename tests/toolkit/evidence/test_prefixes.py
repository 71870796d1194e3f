"""What launchers and loggers put before each line of a file."""

import io
import json

import pytest

from core.metric import Metric
from toolkit.evidence import metrics
from toolkit.evidence.model import Reading
from toolkit.evidence.reader import read_stream
from toolkit.evidence.tools.nccl_tests import NcclTests

TABLE = """\
# nThread 1 nGpus 1 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#
# Using devices
#   Rank  0 Pid     30 on worker-1 device  0 [0x06] Tesla V100-SXM2-16GB
#   Rank  1 Pid     31 on worker-1 device  1 [0x07] Tesla V100-SXM2-16GB
NCCL version 2.5.6+cuda10.2
worker-1:30:45 [0] NCCL INFO Using network IB
#
#                                                     out-of-place                       in-place
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2   float     sum    54.44    0.00    0.00  1e-07    58.26    0.00    0.00  1e-07
          16             4   float     sum    55.57    0.00    0.00  1e-07    60.44    0.00    0.00  1e-07
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0
#
"""
"""As nccl-tests of 2020 prints it, with two rows."""


def _read(text: str) -> tuple[Reading, ...]:
    return read_stream(io.BytesIO(text.encode()), "log")


def _behind(prefix: str, text: str = TABLE) -> str:
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


def _same(one: Reading, other: Reading) -> bool:
    return one.model_dump(exclude={"nccl"}) == other.model_dump(exclude={"nccl"}) and (
        one.nccl is not None and other.nccl is not None and one.nccl.version == other.nccl.version
    )


@pytest.mark.parametrize(
    "prefix",
    [
        "0: ",
        " 0: ",
        "00: ",
        "[prterun-host-123@1,0]<stdout>: ",
        "[0] ",
        "[155] ",
        "[default0]:",
        "[rank0]: ",
        "(RayWorkerWrapper pid=1234, ip=10.0.0.1) ",
        "\x1b[36m(RayTrainWorker pid=1234)\x1b[0m ",
        "worker-1: ",
        "worker-1  | ",
        "nccl-launcher-abcde mpi ",
        "I0516 16:39:51.208000   1 x.go:12] ",
        "2025-05-16 16:39:51,123 INFO ",
        "2025/05/16 16:39:51 ",
        "2019-07-16 03:43:24,132 process          L0458 DEBUG| [stdout] ",
        "Nov 21 23:51:01 dgx01 mpirun[123]: ",
        "  | 2025-05-16T16:39:51.208-07:00 | ",
        "        ",
        "\t",
        "> ",
        ">     ",
        "worker-1  |  0: ",
        "10.0.3.21: ",
        "fd00::3:21: ",
        "10.0.3.21 | ",
        "[1,3]<stderr>:10.0.3.21: ",
        "[rank=3] ",
        "[Rank 3]: ",
        "llama-8b/0 ",
        "2025-05-16T16:39:51.208000+00:00 train/default/0123456789abcdef ",
        "2025-05-16T16:39:51.208Z      worker-1 trainer ",
        "2025-05-16T16:39:51.208Z      worker-1 ",
        "bench.node-04 [stderr] ",
        "(worker1, rank=1, pid=1234, ip=10.0.0.3) ",
        "[1,mpirank:3,algo-2]<stdout>:",
        "[2025-05-16T16:39:51.208000Z] 3d9f5eee || [rank=3] ",
        '2025-05-16T16:39:51Z {namespace="team", pod="worker-1"} ',
        "2025-05-16T16:39:51.962646Z 01O ",
    ],
)
def test_a_table_behind_a_prefix_is_the_same_table(prefix: str) -> None:
    """A table behind a prefix is the same table."""
    (plain,), (found,) = _read(TABLE), _read(_behind(prefix))
    assert isinstance(found, NcclTests)
    assert found.complete, found.incomplete
    assert _same(found, plain)


@pytest.mark.parametrize(
    "form", ["{: 3d}: ", "dgx{:02d}: ", "worker-{}  | ", "[rank{}]: ", "Nov 21 23:51:01 dgx{:02d} mpirun[123]: "]
)
def test_hosts_and_ranks_of_one_launcher_have_one_prefix(form: str) -> None:
    """Hosts and ranks of one launcher share one form of prefix."""
    lines = TABLE.splitlines()
    mixed = "".join(f"{form.format(number)}{line}\n" for line in lines for number in (8, 11))
    found = _read(mixed)
    assert [one.complete for one in found] == [True, True]


@pytest.mark.parametrize(
    "record",
    [
        {"log": "{}\n", "stream": "stdout", "time": "2025-05-16T16:39:51Z"},
        {"time": "2025-05-16T16:39:51Z", "log": "{}", "kubernetes": {"pod_name": "worker-1"}},
        {"@timestamp": 1747413591208, "@message": "{}", "@logStream": "train/default/0"},
        {"labels": {"pod": "worker-1"}, "line": "{}", "timestamp": "2025-05-16T16:39:51Z"},
        {"_index": "app-000001", "_source": {"message": "{}", "kubernetes": {"pod": {"name": "worker-1"}}}},
        {"textPayload": "{}", "severity": "INFO", "insertId": "a1"},
        {"_PID": "12", "__REALTIME_TIMESTAMP": "1747413591208", "MESSAGE": "{}"},
    ],
)
def test_a_record_of_a_log_store_is_its_text(record: dict[str, object]) -> None:
    """Lines that a log store keeps as JSON are read as their texts."""
    text = "".join(f"{json.dumps(record).replace('{}', json.dumps(line)[1:-1])}\n" for line in TABLE.splitlines())
    (plain,), (found,) = _read(TABLE), _read(text)
    assert _same(found, plain)


def test_events_of_a_log_store_are_their_texts() -> None:
    """Events in an indented list of CloudWatch are read as their texts."""
    events = [
        {"timestamp": 1747413591208, "message": line, "ingestionTime": 1747413591308} for line in TABLE.splitlines()
    ]
    *_, found = _read(json.dumps({"events": events, "nextForwardToken": "f/1"}, indent=4))
    assert isinstance(found, NcclTests)
    assert found.complete


def test_json_of_a_program_is_left_as_it_is() -> None:
    """A line with a figure beside its text is a program's own, and its metrics read the figure."""
    text = '{"time": 1.5, "message": "step", "loss": 2.5}\n'
    assert [line.text for line in _read(text)[0].unread] == [text.rstrip()]
    loss = Metric(name="loss", pattern=r'"loss": (\S+)\}')
    assert metrics.read_stream(io.BytesIO(text.encode()), "log", [loss]).rows[0].figure == 2.5


def test_the_frame_of_a_terminal_is_no_text() -> None:
    """Lines that k9s shows in a frame are read without it."""
    (plain,), (found,) = _read(TABLE), _read("".join(f"\u2502 {line:130}\u2502\n" for line in TABLE.splitlines()))
    assert _same(found, plain)


def test_a_host_that_pdsh_names_has_a_run_of_its_own() -> None:
    """Hosts that pdsh names have a run each."""
    text = "CA 'mlx5_0'\n\tCA type: MT4115\n\tPort 1:\n\t\tState: Active\n\t\tRate: 100\n"
    found = _read(_behind("dgx01: ", text) + _behind("dgx02: ", text))
    assert [one.tool for one in found] == ["ibstat", "ibstat"]
    assert [one.unread_total for one in found] == [0, 0]


def test_words_before_a_colon_stay_where_they_are_the_tools() -> None:
    """The words of a tool before a colon are not a prefix."""
    (found, *_) = _read(_behind("dgx01: ") + "error: no such device\nDevice: x\n")
    assert [one.text for one in found.unread] == ["error: no such device", "Device: x"]


def test_a_line_that_looks_like_a_prefix_and_leads_to_no_tool_teaches_none() -> None:
    """Notes of a script are not learned as a prefix."""
    text = "step 1: build\n[0] start\nname: value and more of it\n> quoted words of a page\n"
    (found,) = _read(text)
    assert [one.text for one in found.unread] == text.splitlines()


def test_the_simulator_is_known_behind_a_prefix() -> None:
    """A simulated log is recognised behind a prefix."""
    (found,) = _read(_behind("0: ", f"simulated by hpc: container x\n{TABLE}"))
    assert found.simulated
    assert found.unread == ()
