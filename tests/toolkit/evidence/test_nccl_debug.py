"""NCCL_DEBUG logs. The lines are those of the documents, or in the form that NCCL's sources of that version print."""

import io
import random
from collections.abc import Iterable

import pytest

from toolkit.evidence.model import NcclLog, Reading
from toolkit.evidence.nccl_debug import channels
from toolkit.evidence.reader import read_stream

IB = "NET/IB : Using [0]mlx5_3:1/IB [1]mlx5_2:1/IB [2]mlx5_1:1/IB [3]mlx5_0:1/IB ; OOB eth0:10.128.7.148<0>"


def _reading(lines: Iterable[str]) -> Reading:
    (found,) = read_stream(io.BytesIO("".join(f"{line}\n" for line in lines).encode()), "log", ())
    return found


def _log(*lines: str) -> NcclLog:
    log = _reading(lines).nccl
    assert log is not None
    return log


def _say(host: str, message: str) -> str:
    return f"{host}:30:39 [0] NCCL INFO {message}"


def test_the_line_that_proves_infiniband_names_four_devices() -> None:
    """The HCAs are those that NCCL names, in its order."""
    log = _log("nccl-test-mpi-worker-1:30:30 [0] NCCL INFO " + IB)
    assert log.devices == ("mlx5_3", "mlx5_2", "mlx5_1", "mlx5_0")
    assert log.devices_by_host == {"nccl-test-mpi-worker-1": log.devices}
    assert set(log.link_layers.values()) == {"IB"}
    assert log.sockets == ("eth0",)
    assert log.proofs["NET/IB : Using"].line == 1


def test_the_line_that_proves_gpudirect_is_one_channel() -> None:
    """A channel over a network is counted between hosts where its other end's host is unknown."""
    log = _log(
        "nccl-test-mpi-worker-11:30:39 [0] NCCL INFO Ring 00 : 10[89000] -> 11[89000] [receive] via NET/IB/0/GDRDMA"
    )
    assert (log.transports, log.gpudirect, log.between_nodes) == ({"NET/IB": 1}, 1, {"NET/IB": 1})
    assert log.proofs["GDRDMA"].text.startswith("nccl-test-mpi-worker-11:30:39 [0]")


def test_the_printed_log_without_rdma() -> None:
    """The blog's fallback to TCP is read as such."""
    name = "tensorflow-benchmarks-gpu-v1a2-worker"
    log = _log(
        f"{name}-1:26:156 [0] NCCL INFO Ring 01 : 1 -> 0 [send] via NET/Socket/0",
        f"{name}-0:26:156 [0] NCCL INFO Ring 01 : 0 -> 1 [send] via NET/Socket/0",
        f"{name}-0:26:156 [0] NCCL INFO Using 256 threads, Min Comp Cap 7, Trees disabled",
        f"{name}-1:26:156 [0] NCCL INFO comm 0x7f887032e120 rank 1 nranks 2 cudaDev 0 nvmlDev 7 - Init COMPLETE",
        f"{name}-0:26:156 [0] NCCL INFO comm 0x7f003434e940 rank 0 nranks 2 cudaDev 0 nvmlDev 3 - Init COMPLETE",
        f"{name}-0:26:156 [0] NCCL INFO Launch mode Parallel",
    )
    assert (log.nranks, log.initialised, log.trees) == (2, 2, False)
    assert log.transports == log.between_nodes == {"NET/Socket": 2}
    assert log.gpudirect == 0


@pytest.mark.parametrize(
    ("message", "transport", "gpudirect"),
    [
        ("Ring 00 : 0 -> 1 [send] via NET/Socket/0", "NET/Socket", 0),  # 2.4
        ("Ring 00 : 3[3] -> 10[2] [send] via NET/IB/0/GDRDMA", "NET/IB", 1),  # 2.4
        ("Ring 00 : 0[0] -> 1[1] via P2P/IPC", "P2P/IPC", 0),  # 2.4
        ("Ring 00 : 0[6000] -> 1[7000] via direct shared memory", "SHM", 0),  # 2.5
        ("Channel 02 : 3[b000] -> 2[a000] via P2P/IPC/read", "P2P/IPC", 0),  # 2.7
        ("Channel 00 : 0[1b000] -> 1[1c000] via P2P/direct pointer/read", "P2P/direct pointer", 0),  # 2.8
        ("Channel 00 : 0[6000] -> 4[85000] via P2P/indirect/1[7000]/read", "P2P/indirect", 0),  # 2.8
        ("Channel 00/0 : 0[6000] -> 1[7000] via SHM/direct/CE", "SHM", 0),  # 2.12
        ("Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0(0)/GDRDMA/Shared", "NET/IB", 1),  # 2.12, PXN
        ("Channel 15/1 : 0[0] -> 1[1] via P2P/CUMEM/read/CE", "P2P/CUMEM", 0),  # 2.18
        ("Channel 00/0 : 0[0] -> 8[0] [send] via NET/IBext_v8/3/GDRDMA(PCI)", "NET/IBext_v8", 1),  # 2.27, plug-in
        ("Channel 00/0 : 0[0] -> 8[0] [send] via NET/AWS Libfabric/0/GDRDMA/Shared", "NET/AWS Libfabric", 1),
        ("Channel 00/0 : 0[0] -> 4[0] via P2P/MNNVL", "P2P/MNNVL", 0),  # 2.21, NVLink between nodes
        ("Channel 00 : 0[c1000] -> 1[c6000] via P2P/IPC comm 0x7f2a nRanks 08", "P2P/IPC", 0),  # RCCL
        ("Coll 00 : 3 [send] via COLLNET/SHARP/0/GDRDMA", "COLLNET/SHARP", 1),  # 2.6
        ("CollNet 00/0 : 3 [receive] via COLLNET/SHARP/0", "COLLNET/SHARP", 0),  # 2.18
    ],
)
def test_a_channel_in_the_form_of_each_version(message: str, transport: str, gpudirect: int) -> None:
    """Channels are read in the form of each version of NCCL."""
    log = _log(_say("node-1", message))
    assert (log.transports, log.gpudirect) == ({transport: 1}, gpudirect)
    assert log.proofs[transport].line == 1


def test_both_ends_are_one_channel_between_their_hosts() -> None:
    """Both ends of a channel count once, between hosts only where they differ."""
    log = _log(
        _say("a", "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA"),
        _say("b", "Channel 00/0 : 0[0] -> 8[0] [receive] via NET/IB/3/GDRDMA"),
        _say("a", "Channel 01/0 : 0[0] -> 8[0] [send] via NET/IB/1/GDRDMA"),
        _say("a", "Channel 01/0 : 0[0] -> 8[0] [send] via NET/IB/1/GDRDMA"),
        _say("b", "Channel 00/1 : 0[0] -> 8[0] [receive] via NET/IB/0/GDRDMA"),
        _say("a", "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM"),
        _say("a", "Channel 00/0 : 0[0] -> 2[1] [send] via NET/Socket/0"),
        _say("a", "Channel 00/0 : 0[0] -> 2[1] [receive] via NET/Socket/0"),
    )
    assert log.transports == {"NET/IB": 3, "NET/Socket": 1, "P2P/CUMEM": 1}
    assert log.between_nodes == {"NET/IB": 3}
    assert (log.gpudirect, log.gpudirect_between_nodes) == (3, 3)


def test_a_channel_with_one_end_is_between_hosts_unless_its_rank_is_of_the_same() -> None:
    """Of a pod's own log channels over a network go to another pod; their ranks are listed where no line shows it."""
    log = _log(
        _say("a", "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA"),
        _say("a", "Channel 00/0 : 0[0] -> 9[1] [send] via NET/IB/0/GDRDMA"),
        _say("a", "Channel 01/0 : 0[0] -> 9[1] [send] via NET/IB/0"),
        _say("a", "Channel 00/0 : 0[0] -> 1[1] [send] via NET/IB/0"),
        _say("a", "comm 0x7f01 rank 1 nranks 16 cudaDev 1 nvmlDev 1 busId 2000 - Init COMPLETE"),
    )
    assert log.between_nodes == {"NET/IB": 3}
    assert [tuple(dict(ends).values()) for ends in log.one_end] == [("NET/IB", 0, 9, 2, 1)]


def test_ranks_of_groups_show_no_host() -> None:
    """Rank 1 of a group of two is not rank 1 of the job, which is on the same host."""
    log = _log(
        *(_say("a", f"comm 0x7f0{rank} rank {rank} nranks 16 cudaDev {rank} - Init COMPLETE") for rank in range(2)),
        _say("a", "comm 0x7f20 rank 0 nranks 2 cudaDev 0 - Init COMPLETE"),
        _say("a", "Channel 00/0 : 0[0] -> 1[3] [send] via NET/IB/0/GDRDMA"),
    )
    assert (log.between_nodes, log.one_end) == ({"NET/IB": 1}, ())


def test_gpudirect_at_one_end_is_not_gpudirect() -> None:
    """A channel with GPUDirect at one end is not counted as GPUDirect."""
    log = _log(
        _say("a", "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA"),
        _say("b", "Channel 00/0 : 0[0] -> 8[0] [receive] via NET/IB/0"),
    )
    assert (log.gpudirect, log.gpudirect_one_end) == (0, 1)


def test_channels_of_another_communicator_with_the_same_ranks_count_once() -> None:
    """Channels of further groups with the same ranks count once."""
    line = "Channel 00/0 : 0[0] -> 1[1] via P2P/IPC"
    log = _log(_say("a", line), "a:30:77 [0] NCCL INFO " + line, _say("b", line))
    assert log.transports == {"P2P/IPC": 1}


def test_devices_are_counted_by_the_index_of_their_host() -> None:
    """HCAs are found by the index of their own host."""
    log = _log(
        _say("a", "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>"),
        _say("b", "NET/IB : Using [0]mlx5_1:1/RoCE [1]mlx5_0:1/IB/SHARP [RO]; OOB net1:fe80::1%net1<0>"),
        _say("a", "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0"),
        _say("b", "Channel 00/0 : 0[0] -> 8[0] [receive] via NET/IB/1"),
        _say("a", "Channel 01/0 : 0[0] -> 8[0] [send] via NET/IB/1"),
        _say("a", "Channel 02/0 : 0[0] -> 8[0] [send] via NET/IB/7"),
    )
    assert log.used_devices == {"mlx5_0": 1, "mlx5_1": 1}
    assert log.devices_by_host == {"a": ("mlx5_0", "mlx5_1"), "b": ("mlx5_1", "mlx5_0")}
    assert (log.link_layers, log.sockets) == ({"mlx5_0": "IB", "mlx5_1": "RoCE"}, ("eth0", "net1"))


def test_ends_at_different_hcas_are_told() -> None:
    """Channels whose ends use different HCAs are counted."""
    log = _log(
        _say("a", "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB ; OOB eth0:10.0.0.1<0>"),
        _say("b", "NET/IB : Using [0]mlx5_1:1/IB [1]mlx5_0:1/IB ; OOB eth0:10.0.0.2<0>"),
        # The same HCA by two numbers, two HCAs by one number, and channels of which one end is not known.
        _say("a", "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0"),
        _say("b", "Channel 00/0 : 0[0] -> 8[0] [receive] via NET/IB/1"),
        _say("a", "Channel 01/0 : 0[0] -> 8[0] [send] via NET/IB/1"),
        _say("b", "Channel 01/0 : 0[0] -> 8[0] [receive] via NET/IB/1"),
        _say("a", "Channel 02/0 : 0[0] -> 8[0] [send] via NET/IB/1"),
        _say("a", "Channel 03/0 : 0[0] -> 8[0] [send] via NET/IB/1"),
        _say("b", "Channel 03/0 : 0[0] -> 8[0] [receive] via NET/IB/9"),
    )
    assert log.crossed_devices == {"mlx5_1 to mlx5_0": 1}


def test_bonded_ports_have_no_index_of_a_device() -> None:
    """A bond of two ports (2.19 to 2.21) is not counted for a device."""
    log = _log(
        _say("a", "NET/IB : Using [0]={[0] mlx5_0:1/RoCE, [1] mlx5_1:1/RoCE} [RO]; OOB eth0:10.0.0.1<0>"),
        _say("a", "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0"),
    )
    assert (log.devices, log.used_devices) == (("mlx5_0", "mlx5_1"), {})


def test_versions_algorithms_and_counts() -> None:
    """Versions, algorithms and counts are read in each version's form."""
    old = _log(
        "NCCL version 2.4.8+cuda10.0",
        _say("n", "NET/Socket : Using [0]eno1:192.168.50.11<0>"),
        _say("n", "NET/IB : No device found."),
        _say("n", "Channel 00 :    0   1   2   3"),
        _say("n", "Channel 01 :    0   1   2   3"),
        _say("n", "Using 256 threads, Min Comp Cap 6, Trees enabled up to size -2"),
    )
    assert (old.version, old.cuda, old.channels, old.trees) == ("2.4.8", "10.0", 2, True)
    assert old.sockets == ("eno1",)
    assert {"NET/IB : No device found", "NET/Socket : Using"} <= old.proofs.keys()
    new = _log(
        _say("n", "NCCL version 2.27.3+cuda12.9"),
        _say("n", "Bootstrap: Using net1:10.0.0.1<0>"),
        _say("n", "Trees [0] 9/-1/-1->8->0 [1] 9/0/-1->8->-1"),
        _say("n", "4 coll channels, 4 collnet channels, 0 nvls channels, 4 p2p channels, 1 p2p channels per peer"),
        _say("n", "comm 0x5584f0195160 rank 8 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0"),
        _say(
            "n", "ncclCommInitRank comm 0x55 rank 8 nranks 16 cudaDev 0 nvmlDev 0 busId 18000 commId 0x45 - Init START"
        ),
        _say(
            "n",
            "ncclCommInitRank comm 0x55 rank 8 nranks 16 cudaDev 0 nvmlDev 0 busId 18000 commId 0x45 - Init COMPLETE",
        ),
        _say("n", "ncclCommSplit comm 0x56 rank 0 nranks 2 cudaDev 0 busId 18000 color -1 key 0- Init COMPLETE"),
    )
    assert (new.version, new.cuda, new.channels, new.trees) == ("2.27.3", "12.9", 4, True)
    assert (new.nranks, new.initialised, new.collnet) == (16, 1, None)


def test_trees_that_are_laid_out_and_not_used_are_disabled() -> None:
    """`Trees disabled` (2.4, 2.5) holds, although NCCL lays out trees."""
    log = _log(
        _say("n", "Trees [0] 1/-1/-1->0->-1|-1->0->1/-1/-1"),
        _say("n", "Using 256 threads, Min Comp Cap 7, Trees disabled"),
        _say("m", "Trees [0] 1/-1/-1->0->-1|-1->0->1/-1/-1"),
    )
    assert log.trees is False


def test_sharp_is_seen_by_its_channels() -> None:
    """`4 collnet channels`, which NCCL prints without SHARP, is no in-network reduction."""
    assert _log(_say("n", "CollNet 00/0 : 3 [send] via COLLNET/SHARP/0/GDRDMA")).collnet is True
    assert _log(_say("n", "Cannot initialize CollNet, using point-to-point network instead")).collnet is False


def test_warnings_and_reasons_against_gpudirect_are_kept() -> None:
    """Warnings, and reasons against GPUDirect, are stored."""
    lines = (
        "",
        "w-1:30:39 [0] misc/ibvwrap.cu:284 NCCL WARN Call to ibv_reg_mr failed",
        "[2026-03-03 12:35:26] w-1:30:39 [0] transport/net_ib.cc:2453 NCCL WARN NET/IB: Got completion with status=4",
        _say("w-1", "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0' (no module)"),
        _say("w-1", "GPU Direct RDMA Disabled for GPU 6000 / HCA 3 (distance 4 > 2)"),
        _say("w-1", "GPU Direct RDMA Enabled for GPU 6000 / HCA 0 (distance 2 <= 2), read 1"),
        _say("w-1", "transport/net_ib.cc:637 -> 2"),
    )
    found = _reading(lines)
    assert found.nccl is not None
    assert [one.line for one in found.nccl.warnings] == [2, 3]
    assert [one.line for one in found.nccl.gdr_unavailable] == [4, 5]
    assert found.unread == ()


@pytest.mark.parametrize(
    "line",
    [
        "w-1:30:39 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[",
        "w-1:30:39 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRD",
        "w-1:30:39 [0] NCCL INFO Chan",
        "w-1:30:39 [0] NCCL INFO",
        "w-1:30:w-2:30:40 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] via P2P/IPC",
        "w-1:30:39 [0] NCCL INFO Channel 00/0 : 0[0] -w-2:30:40 [1] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via P2P/IPC",
        "w-1:30:39 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] via P2P/IPCw-2:30:40 [1]",
        "39 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] via P2P/IPC",
        "NCCL INFO Channel 00/0 : 0[0] -> 1[0] via P2P/IPC",
        "w-1:30:39 [0] NCCL INFO comm 0x7f887032e120 rank 1 nranks 2 cudaDev 0 nv",
        "w-1:30:39 [0] NCCL INFO NET/IB : Using [0]mlx5_3:1/IB [1]mlx5",
        "w-1:30:39 [0] NCCL INFO AllReduce: opCount 1f sendbuff 0x7f recvbu",
    ],
)
@pytest.mark.parametrize("before", [0, 3])
def test_a_damaged_line_is_listed_and_never_counted(line: str, before: int) -> None:
    """A cut or mixed line is listed, and becomes no channel, rank or device."""
    whole = [_say("w-1", "Channel 07/0 : 6[6] -> 7[7] via P2P/IPC")] * before
    found = _reading([*whole, line, *whole])
    assert [(one.line, one.text) for one in found.unread] == [(before + 1, line)]
    if before:
        assert found.nccl is not None
        assert (found.nccl.transports, found.nccl.nranks, found.nccl.devices) == ({"P2P/IPC": 1}, None, ())
    else:
        assert found.nccl is None


def test_lines_of_each_call_are_known() -> None:
    """Lines of NCCL_DEBUG_SUBSYS=COLL are known."""
    call = (
        "opCount {} sendbuff 0x7f01 recvbuff 0x7f02 count 1024 datatype 7 op 0 root 0 comm 0x55 [nranks=16] stream 0x56"
    )
    found = _reading(
        _say("a", f"{name}: {call.format(f'{number:x}')}") for name in ("AllReduce", "Send") for number in range(9)
    )
    assert found.unread == ()
    assert found.nccl is not None


def test_there_is_an_end_to_channels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log of random ranks takes bounded memory, and its surplus lines are counted."""
    monkeypatch.setattr(channels, "MOST", 3)
    found = _reading(_say("a", f"Channel 00 : {rank}[0] -> {rank + 1}[0] via P2P/IPC") for rank in (1, 2, 3, 4, 1))
    assert found.nccl is not None
    assert (found.nccl.transports, [one.line for one in found.unread]) == ({"P2P/IPC": 3}, [4])


def _job(chance: random.Random) -> tuple[list[str], dict[str, int], dict[str, int]]:
    """Return the lines of a job, its channels by transport, and those between hosts, counted the plain way."""
    gpus, hosts = chance.choice((1, 2, 8)), chance.choice((1, 2, 4))
    transport = chance.choice(("NET/IB", "NET/Socket"))
    lines, every, between = [], set(), set()
    for source in range(gpus * hosts):
        for target in {(source + 1) % (gpus * hosts), (source + gpus) % (gpus * hosts)} - {source}:
            for number in range(chance.choice((1, 12))):
                name = f"Channel {number:02d}/0 : {source}[{source % gpus}] -> {target}[{target % gpus}]"
                if source // gpus == target // gpus:
                    lines.append(f"h{source // gpus}:{source + 9}:{source + 9} [0] NCCL INFO {name} via P2P/IPC")
                    every.add((name, "P2P/IPC"))
                    continue
                for rank, word in ((source, "send"), (target, "receive")):
                    lines.append(f"h{rank // gpus}:{rank + 9}:7 [0] NCCL INFO {name} [{word}] via {transport}/0")
                every.add((name, transport))
                between.add((name, transport))
    lines += chance.sample(lines, len(lines) // 3)
    chance.shuffle(lines)
    count = [
        {kind: sum(one == kind for _, one in found) for kind in sorted({one for _, one in found})}
        for found in (every, between)
    ]
    return lines, count[0], count[1]


_PREFIXES = (
    lambda _: "",
    lambda number: f"[1,{number % 7}]<stdout>:",
    lambda number: f"2026-11-21T20:01:{number % 60:02d}.{number}Z ",
    lambda number: f"2026-11-21T20:01:{number % 60:02d}.{number}Z stderr F [1,{number % 3}]<stderr>: ",
    lambda number: f"[pod/launcher-x/main] 2026-11-21T20:01:{number % 60:02d}Z ",
    lambda number: "\x1b[32m" * (number % 2),
)


@pytest.mark.parametrize("seed", range(40))
def test_channels_are_those_of_a_plain_count(seed: int) -> None:
    """The fast way through known lines counts as the plain way, behind any prefix."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    lines, every, between = _job(chance)
    prefix = _PREFIXES[seed % len(_PREFIXES)]
    found = _reading(prefix(number) + line for number, line in enumerate(lines))
    if not lines:
        return
    assert found.nccl is not None
    assert (found.nccl.transports, found.nccl.between_nodes) == (every, between)
    assert (found.unread_total, found.last_line) == (0, len(lines))


@pytest.mark.parametrize("seed", range(60))
def test_damage_is_told_and_invents_nothing(seed: int) -> None:
    """Cut and mixed lines neither raise nor add channels."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    lines, every, _ = _job(chance)
    whole = list(lines)
    for place in chance.sample(range(len(lines)), len(lines) // 4):
        cut = chance.randrange(len(lines[place]) + 1)
        match chance.randrange(3):
            case 0:
                lines[place] = lines[place][:cut]
            case 1:
                lines[place] = lines[place][cut:]
            case _:
                lines[place] = lines[place][:cut] + chance.choice(whole) + lines[place][cut:]
    found = _reading(lines)
    if found.nccl is not None:
        assert all(count <= every.get(kind, 0) for kind, count in found.nccl.transports.items())
    listed = {one.line: one.text for one in found.unread}
    assert all(text == lines[number - 1].rstrip() for number, text in listed.items())
    for number, line in enumerate(lines, 1):
        if line.count(" via ") != 1 or line.count("NCCL INFO") != 1:
            assert not line or number in listed
        if line in whole:
            assert number not in listed


def test_networks_of_plugins_are_named_and_counted() -> None:
    """Networks of plugins are named and counted, with GPUDirect."""
    log = _log(
        _say("n", "NET/Plugin: Loaded net plugin Libfabric (v10)"),
        _say("n", "Using network IBext_v8"),
        _say("n", "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IBext_v8/0(8)/GDRDMA"),
        _say("m", "Channel 00/0 : 0[0] -> 8[0] [receive] via NET/IBext_v8/1/GDRDMA"),
        _say("n", "Channel 01/0 : 0[0] -> 8[0] [send] via NET/AWS Libfabric/1/GDRDMA/Shared"),
        _say("m", "Channel 01/0 : 0[0] -> 8[0] [receive] via NET/AWS Libfabric/1/GDRDMA"),
    )
    assert log.plugins == ("Libfabric", "IBext_v8", "AWS Libfabric")
    assert log.between_nodes == {"NET/IBext_v8": 1, "NET/AWS Libfabric": 1}
    assert log.gpudirect_between_nodes == 2
    own = _log(_say("n", "Using network IB"), _say("n", "Channel 00/0 : 0[0] -> 8[0] [send] via NET/Socket/0"))
    assert own.plugins == ()


def test_interfaces_whose_address_is_not_printed_are_named() -> None:
    """Interfaces whose address was removed are read."""
    log = _log(_say("n", "NET/Socket : Using [0]enp41s0f1:<0> [1]virbr0:<0>"))
    assert log.sockets == ("enp41s0f1", "virbr0")
