"""What perftest prints: every kind of table, both sides, failures, JSON, damage."""

import io
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.mutated import drawn_damage, only
from toolkit.evidence.reader import read_stream
from toolkit.evidence.tools.perftest import Perftest, PerftestParser
from toolkit.evidence.tools.perftest.run import Command

LOGS = Path(__file__).parent.parent / "logs" / "perftest"
RULE = "-" * 87

# The forms below are those of `ctx_print_test_info`, RESULT_FMT*, REPORT_FMT* of src/perftest_parameters.{c,h} of
# linux-rdma/perftest; versions 3 (2014) to 26 (2026).
HEADER = """ Dual-port       : OFF\t\tDevice         : mlx5_0
 Number of qps   : 1\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 PCIe relax order: ON\t\tLock-free      : OFF
 ibv_wr* API     : ON\t\tUsing DDP      : OFF
 TX depth        : 128
 CQ Moderation   : 1
 Mtu             : 4096[B]
 Link type       : Ethernet
 GID index       : 3
 Max inline data : 0[B]
 rdma_cm QPs\t : OFF
 Data ex. method : Ethernet
"""
ENDS = """ local address: LID 0000 QPN 0x0901 PSN 0x5e30c8 RKey 0x200020 VAddr 0x007fe663d20000
 GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:22:116:222
 remote address: LID 0000 QPN 0x0902 PSN 0xf40c3c RKey 0x200021 VAddr 0x007f282a06e000
 GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:22:116:220
"""
MB = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
GB = MB.replace("MB", "Gb")
LAT = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   "
    "99% percentile[usec]   99.9% percentile[usec] \n"
)


def _log(title: str, heading: str, rows: str, header: str = HEADER, before: str = "") -> str:
    ends = f"{RULE}\n{ENDS}{RULE}\n{heading}{rows}{RULE}\n"
    return f"{before}{RULE}\n                    {title}\n{header}{ends}"


def _all(text: str) -> list[Perftest]:
    found = read_stream(io.BytesIO(text.encode("utf-8", "surrogateescape")), "log", (PerftestParser,))
    return [one for one in found if isinstance(one, Perftest)]


def _read(text: str) -> Perftest:
    (found,) = _all(text)
    return found


GBITS = _log("RDMA_Write BW Test", GB, " 65536      5000             98.12              97.89\t\t   0.186712\n")
_RATE = 0.18
EVERY = _log(
    "RDMA_Write BW Test",
    MB,
    "".join(
        f" {size:<7d}    5000             0.00               {size * _RATE * 1e6 / 2**20:<7.2f}\t\t   {_RATE:<7.6f}\n"
        for size in (1 << power for power in range(1, 24))
    ),
    before="+ ib_write_bw -a -F -d mlx5_0 dgx02\n",
)
LATENCY = _log(
    "RDMA_Write Latency Test",
    LAT,
    " 2       1000          1.05           3.21         1.10     \t       1.12     \t0.08\t\t1.40 \t\t2.90   \n",
)


def test_the_papers_row_is_read_with_all_that_stands_around_it() -> None:
    """The Redpaper's row is read with all that surrounds it."""
    found = only(Perftest, LOGS / "redp5610-4.1-ib-write-bw.log")
    assert (found.complete, found.incomplete, found.unread_total) == (True, None, 0)
    (row,) = found.bandwidth
    assert (row.bytes, row.iterations, row.peak_mb_s, row.average_mb_s) == (65536, 5000, 11300.40, 11264.11)
    assert (row.message_rate_mpps, row.unit, row.line) == (0.180226, "MB/s", 20)
    assert (found.program, found.peer, found.role, found.device) == ("ib_write_bw", "dgx02", "client", "mlx5_1")
    assert (found.qps, found.connection_type, found.transport_type) == (1, "RC", "IB")
    assert (found.tx_depth, found.cq_moderation, found.mtu_bytes, found.inline_bytes) == (128, 100, 4096, 0)
    assert (found.link_type, found.gid_index, found.rdma_cm, found.exchange) == ("IB", None, False, "Ethernet")
    assert [(one.lid, one.qpn, one.gid) for one in (*found.local, *found.remote)] == [
        (0x0D, 0x16CB, None),
        (0x12, 0x2251, None),
    ]
    assert found.cpu_frequency is not None
    assert (found.cpu_frequency.line, found.cpu_frequency.first_mhz, found.cpu_frequency.second_mhz) == (
        2,
        3403.93,
        3029.296,
    )
    assert (found.failures, found.warnings, found.contradictions) == ((), (), ())


def test_gigabits_become_the_tools_own_megabytes() -> None:
    """97.89 Gb/s are perftest's MB of 2^20 bytes."""
    (row,) = _read(GBITS).bandwidth
    assert (row.unit, row.average_printed, row.peak_printed) == ("Gb/s", 97.89, 98.12)
    assert row.average_mb_s == pytest.approx(97.89e9 / 8 / 2**20)
    assert row.average_mb_s == pytest.approx(11669.4, abs=0.1)


def test_all_sizes_are_read_and_gaps_named() -> None:
    """A run of -a that broke off names the sizes that are absent."""
    found = _read(EVERY)
    assert (found.complete, len(found.bandwidth), found.missing_bytes) == (True, 23, ())
    assert {row.peak_mb_s for row in found.bandwidth} == {None}
    lines = EVERY.splitlines(keepends=True)
    cut = _read("".join(lines[:-2]))
    assert (cut.missing_bytes, cut.complete) == ((1 << 23,), False)
    assert cut.incomplete == "no line behind the results; sizes are missing: 8388608 B"
    gap = _read("".join(line for line in lines if not line.startswith(" 4096 ")))
    assert gap.missing_bytes == (4096,)


@pytest.mark.parametrize(
    ("title", "program", "bidirectional"),
    [
        ("Send BW Test", "ib_send_bw", False),
        ("RDMA_Read BW Test", "ib_read_bw", False),
        ("RDMA_Write Bidirectional BW Test", "ib_write_bw", True),
        ("RDMA_Write_imm BW Test", "ib_write_bw", False),
        ("Send Bidirectional Post List BW Test", "ib_send_bw", True),
        ("Atomic FETCH_AND_ADD BW Test", "ib_atomic_bw", False),
        ("Atomic CMP_AND_SWAP Latency Test", "ib_atomic_lat", False),
        ("RDMA_Read Latency Test", "ib_read_lat", False),
        ("Send Latency Test", "ib_send_lat", False),
    ],
)
def test_programs_are_known_by_their_titles(title: str, program: str, *, bidirectional: bool) -> None:
    """Programs are recognised by their titles."""
    text = (GBITS if " BW " in title else LATENCY).replace("RDMA_Write BW Test", title)
    found = _read(text.replace("RDMA_Write Latency Test", title))
    assert (found.program, found.bidirectional, found.complete) == (program, bidirectional, True)


def test_latencies_of_all_versions_are_read() -> None:
    """Latencies of all versions are read, with percentiles or without."""
    (row,) = _read(LATENCY).latency
    assert (row.bytes, row.iterations, row.min_us, row.max_us, row.typical_us) == (2, 1000, 1.05, 3.21, 1.10)
    assert (row.average_us, row.stdev_us, row.p99_us, row.p99_9_us) == (1.12, 0.08, 1.40, 2.90)
    old = LATENCY.replace(LAT, " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]\n")
    old = re.sub(r"1\.12.*", "", old)
    (row,) = _read(old).latency
    assert (row.typical_us, row.average_us) == (1.10, None)
    during = _log("Send Latency Test", " #bytes        #iterations       t_avg[usec]    tps average\n", "")
    (row,) = _read(
        during.replace("average\n", "average\n 2             500000            1.09        458715.60\n")
    ).latency
    assert (row.average_us, row.per_second, row.min_us) == (1.09, 458715.60, None)


def test_extra_columns_are_read() -> None:
    """CPU load, service levels or ports in further columns do not shift the average."""
    level = MB.replace("#bytes    ", "#bytes    #sl ").replace("\n", "    CPU_Util[%]\n")
    text = _log("Send BW Test", level, " 65536      3      5000    11300.40    11264.11    0.180226    12.34\n")
    (row,) = _read(text).bandwidth
    assert (row.service_level, row.average_mb_s, row.cpu_percent) == (3, 11264.11, 12.34)
    ports = MB.replace("\n", "   BW Port1[MB/sec]   MsgRate Port1[Mpps]   BW Port2[MB/sec]   MsgRate Port2[Mpps]\n")
    text = _log("Send BW Test", ports, " 65536 5000 0.00 11264.11 0.180226 5632.00 0.090113 5632.11 0.090113\n")
    (row,) = _read(text).bandwidth
    assert row.ports_average_mb_s == (5632.00, 5632.11)


def test_both_sides_are_distinguished() -> None:
    """A listener without results is read as a listener."""
    waiting = f"{'*' * 36}\n* Waiting for client to connect... *\n{'*' * 36}\n"
    header = HEADER.replace(" TX depth        : 128\n", "")
    found = _read(f"{waiting}{RULE}\n                    RDMA_Write BW Test\n{header}{RULE}\n{ENDS}{RULE}\n{RULE}\n")
    assert (found.role, found.complete) == ("server", False)
    assert found.incomplete == "no results: the side that listens may print none, the client does"
    with_row = _read(waiting + GBITS)
    assert (with_row.role, with_row.complete) == ("server", True)
    assert (with_row.first_line, with_row.unread_total) == (1, 0), "the rule above the waiting is its own"
    assert _read(GBITS).role == "client"
    assert [one.gid for one in with_row.remote] == ["00:00:00:00:00:00:00:00:00:00:255:255:10:22:116:220"]


def test_both_sides_in_one_terminal_are_read() -> None:
    """Both sides in one terminal are read.

    The order is that of logs in which the listener runs in the background of the same shell.
    """
    server, client = (
        _log("RDMA_Write BW Test", MB, f" 65536      5000             {row}\n").splitlines()
        for row in ("0.00               11690.12\t\t   0.187042", "11700.50           11688.00\t\t   0.187008")
    )
    mixed = [line for pair in zip(server, client, strict=True) for line in pair]
    waiting = "*" * 36 + "\n* Waiting for client to connect... *\n" + "*" * 36 + "\n"
    (found,) = _all(waiting + "\n".join(mixed) + "\n")
    assert (found.complete, found.role, found.unread_total) == (True, None, 0)
    assert [row.average_mb_s for row in found.bandwidth] == [11690.12, 11688.0]


def test_the_end_of_a_log_is_read_from_its_heading() -> None:
    """The figures of a log without its head are read."""
    found = _read(GBITS[GBITS.index(" #bytes") :])
    assert [row.average_printed for row in found.bandwidth] == [97.89]
    assert (found.complete, found.incomplete) == (False, "no title")


def test_commands_are_read() -> None:
    """Commands are read: the role follows from the host."""
    for command, program, device, peer in (
        ("+ ib_write_bw dgx02 -d mlx5_1", "ib_write_bw", "mlx5_1", "dgx02"),
        ("+ ib_write_bw -d mlx5_1 -s 65536 -F", "ib_write_bw", "mlx5_1", None),
        ("$ MLX5_SCATTER_TO_CQE=0 ./ib_write_bw --ib-dev=mlx5_2 -x 7 10.0.0.2", "ib_write_bw", "mlx5_2", "10.0.0.2"),
        (
            "root@n1:~# taskset -c 17 ib_send_bw -d mlx5_b -z -F -D 20 -p 203 10.0.0.3",
            "ib_send_bw",
            "mlx5_b",
            "10.0.0.3",
        ),
        ("$ numactl -C 1 -m 0 ib_read_lat --size 2 --use_cuda=0 host", "ib_read_lat", None, "host"),
    ):
        found = Command.of(command)
        assert found is not None
        assert (found.program, found.device, found.peer) == (program, device, peer)
    for other in ("ib_write_bw_post is not a program", "kubectl logs ib_write_bw", "the program ib_write_bw ran"):
        assert Command.of(other) is None


def test_memory_of_gpus_is_seen() -> None:
    """A test in a GPU's memory is read as such."""
    said = (
        "Perftest doesn't supports CUDA tests with inline messages: inline size set to 0\n"
        "initializing CUDA\nListing all CUDA devices in system:\nCUDA device 0: PCIe address is 1B:00\n\n"
        "Picking device No. 0\n[pid = 13194, dev = 0] device name = [NVIDIA H100 80GB HBM3]\ncreating CUDA Ctx\n"
        "making it the current CUDA Ctx\ncuMemAlloc() of a 131072 bytes GPU buffer\n"
        "allocated GPU buffer address at 0000010013000000 pointer=0x10013000000\n"
    )
    found = _read(said + GBITS)
    assert (found.gpu, found.gpu_name, found.complete, found.unread_total) == (True, "NVIDIA H100 80GB HBM3", True, 0)
    assert len(found.warnings) == 1
    assert not _read(GBITS).gpu
    assert _read("$ ib_write_bw --use_cuda=0 -d mlx5_0 10.0.0.2\n" + GBITS).gpu


@pytest.mark.parametrize(
    ("said", "first"),
    [
        ("Couldn't allocate MR\nfailed to create mr\nFailed to create MR\n Couldn't create IB resources", 0),
        ("Couldn't allocate MR with error=93\nfailed to create mr", 0),
        ("IB device mlx5_9 not found\n Unable to find the Infiniband/RoCE device", 0),
        ("Couldn't connect to dgx02:18515\n Unable to open file descriptor for socket connection", 0),
        ("Unable to find the Infiniband/RoCE deivce", 0),
        (" Port number 1 state is Down\n Couldn't set the link layer\n Couldn't get context for the device", 0),
    ],
)
def test_failures_are_readings_with_their_lines(said: str, first: int) -> None:
    """A test that never ran is a reading with its line."""
    lines = said.splitlines()
    for before in ("", "+ ib_write_bw dgx02 -d mlx5_1\n"):
        found = _read(f"{before}{said}\n")
        assert [one.text for one in found.failures] == lines
        assert not found.complete
        assert found.incomplete is not None
        assert lines[first].strip() in found.incomplete


def test_failures_in_the_middle_are_seen() -> None:
    """A test whose queue pairs never worked, or that lost its peer, failed."""
    start = f"{RULE}\n                    RDMA_Write BW Test\n{HEADER}{RULE}\n"
    for failure in (
        "Failed to modify QP 2305 to RTR",
        " Unable to Connect the HCA's through the link",
        " Completion with error at client",
        " Failed status 12: wr_id 0 syndrom 0x81",
        "Segmentation fault (core dumped)",
    ):
        found = _read(start + failure + "\n")
        assert [one.text for one in found.failures] == [failure]
        assert found.incomplete is not None
        assert "no table" in found.incomplete


def test_runs_in_one_log_are_distinguished() -> None:
    """A loop over four HCAs is four runs."""
    runs = "".join(f"+ ib_write_bw dgx02 -d mlx5_{one}\n{GBITS}" for one in range(4))
    found = _all(runs)
    assert [(one.complete, one.peer) for one in found] == [(True, "dgx02")] * 4
    assert [one.complete for one in _all(GBITS * 3)] == [True] * 3


def test_cut_and_damaged_output_is_not_whole() -> None:
    """A row that lost digits, or half a row, is not whole."""
    row = " 65536      5000             98.12              97.89\t\t   0.186712"
    assert row in GBITS
    for damaged in (row[:30], row[:-3], row.replace("97.89", "7.89"), row.replace("0.186712", "0.86712"), row + row):
        found = _read(GBITS.replace(row, damaged))
        assert found.bandwidth == ()
        assert not found.complete
        assert len(found.contradictions) + found.unread_total == 1
    for end in range(0, GBITS.rindex(RULE) + 4, 41):
        assert not any(one.complete for one in _all(GBITS[:end]))


BW_FILE = """{
"test_info": {
"test": "RDMA_Write_BW_Test",
"Dual_port": "OFF",
"Device": "mlx5_11",
"Number_of_qps": 1,
"Transport_type": "IB",
"Connection_type": "RC",
"Using_SRQ": "OFF",
"PCIe_relax_order": "ON",
"ibv_wr_API": "ON",
"TX_depth": 128,
"CQ_Moderation": 1,
"Mtu": 1024,
"Link_type": "Ethernet",
"GID_index": 1,
"Max_inline_data": 0,
"rdma_cm_QPs": "OFF",
"cuda_device": 0,
"Use_ROCm_memory": "OFF",
"Data_ex_method": "Ethernet"
},
"results": {
"MsgSize": 65536,
"n_iterations": 5000,
"BW_peak": 5293.52,
"BW_average": 2229.27,
"MsgRate": 0.035668
}
}
"""


def test_json_files_are_the_same_reading() -> None:
    """A file of --out_json is the same reading, and its unit is not guessed."""
    found = _read(BW_FILE)
    assert (found.complete, found.incomplete, found.program, found.device) == (True, None, "ib_write_bw", "mlx5_11")
    assert (found.mtu_bytes, found.link_type, found.gid_index, found.gpu, found.unit) == (
        1024,
        "Ethernet",
        1,
        True,
        "MB/s",
    )
    (row,) = found.bandwidth
    assert (row.bytes, row.iterations, row.average_mb_s, row.message_rate_mpps) == (65536, 5000, 2229.27, 0.035668)
    gbits = _read(BW_FILE.replace("2229.27", "18.70").replace("5293.52", "44.41"))
    assert (gbits.unit, gbits.complete) == ("Gb/s", True)
    neither = _read(BW_FILE.replace("2229.27", "1000.00"))
    assert (neither.bandwidth, neither.complete) == ((), False)
    latency = BW_FILE.replace("RDMA_Write_BW", "Send_Latency").replace("BW_peak", "t_min")
    latency = latency.replace("BW_average", "t_avg").replace('"MsgRate"', '"percentile_99.9"')
    (lat,) = _read(latency).latency
    assert (lat.min_us, lat.average_us, lat.p99_9_us) == (5293.52, 2229.27, 0.035668)
    for end in range(20, len(BW_FILE) - 4, 23):
        assert not any(one.complete for one in _all(BW_FILE[:end]))


def test_json_files_with_other_kinds_of_values_do_not_raise() -> None:
    """JSON files with other kinds of values do not raise."""
    results = BW_FILE[BW_FILE.index('"results"') : -2]
    for old, new in (
        ('"mlx5_11"', "5"),
        ('"RDMA_Write_BW_Test"', '""'),
        ("65536", "065536"),
        ("5000", "-5000"),
        ("0.035668", '"many"'),
        (results, results + results),
    ):
        found = _read(BW_FILE.replace(old, new))
        assert not found.complete or new == '""'
        assert len(found.bandwidth) <= 1


_FORMS = [(LOGS / "redp5610-4.1-ib-write-bw.log").read_text(), GBITS, EVERY, LATENCY, BW_FILE]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
def test_no_damage_makes_a_row_that_is_not_there(data: st.DataObject) -> None:
    """Damage does not raise, and adds no row."""
    text = drawn_damage(data, _FORMS, ("0x", '"'))
    lines = text.split("\n")
    for found in _all(text):
        found.model_dump_json()
        if '"results"' in text:
            continue
        for row in found.bandwidth:
            words = lines[row.line - 1].split()
            assert [row.bytes, row.iterations] == [int(word) for word in words[:2]]
            assert {row.peak_printed, row.average_printed} <= {float(word) for word in words[2:]}
        for one in found.latency:
            words = lines[one.line - 1].split()
            assert [one.bytes, one.iterations] == [int(word) for word in words[:2]]
            assert [one.min_us, one.max_us, one.typical_us] == [float(word) for word in words[2:5]]
