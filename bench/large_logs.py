"""Large logs, endless and the same on every machine: what `bench/evidence.py` reads.

The program creates communicators of 16, 64 and 256 ranks on hosts of eight GPUs over and over, each with threads and
addresses of its own. Every rank prints its devices, rings, trees and channels, in the order in which ranks happen to
write, among some lines of other programs.
"""

import itertools
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from core.hardware.measured import REDPAPER_MACHINE
from core.hardware.profiles import profile

_GPUS, _CHANNELS, _SIZES = 8, 8, (16, 64, 256)
_GPU = profile(REDPAPER_MACHINE).gpu.model
_BUS = ("6000", "7000", "a000", "b000", "85000", "86000", "89000", "8a000")
_NOISE = (
    "Warning: Permanently added 'nccl-test-mpi-worker-3,10.128.7.148' (ECDSA) to the list of known hosts.",
    "+ POD_NAME=nccl-test-mpi-worker-1",
    "WARNING: Open MPI accepted a TCP connection from what appears to be a",
)


def program() -> Iterator[str]:
    """Yield the log of a program that makes communicators of several sizes over and over."""
    yield _header(max(_SIZES))
    for number, ranks in enumerate(itertools.cycle(_SIZES)):
        yield _communicator(number, ranks)


def repeated() -> Iterator[str]:
    """Yield runs of nccl-tests, one after another."""
    for number, ranks in enumerate(itertools.cycle(_SIZES)):
        yield _header(ranks) + _communicator(number, ranks) + table()


def timed(parts: Iterator[str]) -> Iterator[str]:
    """Yield the same behind kubectl's times."""
    for part in parts:
        yield "".join(
            f"2026-11-21T20:{number // 60000 % 60:02d}:{number // 1000 % 60:02d}.{number % 1000:03d}482917Z {line}\n"
            for number, line in enumerate(part.splitlines())
        )


def table() -> str:
    """Return the table that nccl-tests prints."""
    rows = "".join(
        f"{8 << step:12d}  {2 << step:12d}   float     sum  {50 + step * 7:6.2f}  {0.1 * step:6.2f}  {0.2 * step:6.2f}"
        f"  4e-07  {51 + step * 7:6.2f}  {0.1 * step:6.2f}  {0.2 * step:6.2f}  4e-07\n"
        for step in range(26)
    )
    return (
        "#\n#                                                     out-of-place                       in-place\n"
        "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error\n"
        "#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"
        f"{rows}# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 2.5\n#\n"
    )


def pytorch() -> Iterator[str]:
    """Yield a training of PyTorch: what NCCL prints, then eight ranks' steps behind torchrun's tags."""
    yield "".join(f"{line}\n" for rank in range(8) for line in _rank(rank, 8, 0))
    for step in itertools.count(1):
        yield "".join(
            f"[rank{rank}]: [2026-11-21 20:00:{step % 60:02d},{step % 1000:03d}] INFO epoch {step // 1000} step {step} "
            f"loss {7 / (1 + step / 1000):.4f} lr 1.00e-03 throughput: {4000 + step * rank % 99 / 10:.1f} samples/s\n"
            for rank in range(8)
        )


def restarted() -> Iterator[str]:
    """Yield the step lines of rank 0 behind kubectl's times, a step a second, with a restart every 50,000 steps."""
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    second, step = 0, 0
    while True:
        if second % 50_000 == 0:
            step = max(step - 500, 0)
            yield f"{_stamp(begin, second)} starts 8 ranks\n{_stamp(begin, second + 60)} resumed at {step}\n"
            second += 60
        step, second = step + 1, second + 1
        figures = f"{4000 + step % 97 / 10:.1f} images/s, loss {7 / (1 + step / 1000):.3f}"
        yield f"{_stamp(begin, second)} step {step}: {figures}\n"


def _stamp(begin: datetime, second: int) -> str:
    """Return a time as kubectl prints it; within a second it varies by some milliseconds."""
    return f"{begin + timedelta(seconds=second):%Y-%m-%dT%H:%M:%S}.{second * 7919 % 10_000:06d}482Z"


def dllogger() -> Iterator[str]:
    """Yield a training that DLLogger writes."""
    for step in itertools.count(1):
        yield (
            f"DLL 2020-01-01 10:{step // 60 % 60:02d}:{step % 60:02d}.{step % 1000:06d} - ({step // 1000}, {step}) "
            f"train.loss : {7 - step % 7 / 100:.5f} train.total_ips : {12000 + step % 99:.2f} img/s\n"
        )


def words() -> Iterator[str]:
    """Yield text whose words change in every line."""
    chance = random.Random(1)  # noqa: S311 - a log that is the same each time
    vocabulary = ["".join(chance.choices("abcdefghijklmnop", k=chance.randint(3, 9))) for _ in range(3000)]
    while True:
        yield " ".join(chance.choices(vocabulary, k=14)) + "\n"


def tf_cnn_benchmarks() -> Iterator[str]:
    """Yield tf_cnn_benchmarks of 16 ranks behind mpirun's tags."""
    yield "".join(f"[1,{rank}]<stdout>:TensorFlow:  2.1\n" for rank in range(16))
    step = 0
    while True:
        step += 10
        yield "".join(
            f"[1,{rank}]<stdout>:{step}\timages/sec: {700 + rank / 10:.1f} +/- 0.9 (jitter = 2.2)\t7.{step % 999:03d}\n"
            for rank in range(16)
        )


def _communicator(number: int, ranks: int) -> str:
    chance = random.Random(number)  # noqa: S311 - a log that is the same each time
    lines = [line for rank in range(ranks) for line in _rank(rank, ranks, number)]
    # Ranks write at the same time: each one's lines come in pieces, between those of others.
    blocks = [lines[start : start + 12] for start in range(0, len(lines), 12)]
    chance.shuffle(blocks)
    for _ in range(len(lines) // 500):
        chance.choice(blocks).append(chance.choice(_NOISE))
    return "".join(f"{line}\n" for block in blocks for line in block)


def _rank(rank: int, ranks: int, number: int) -> Iterator[str]:
    host, gpu = divmod(rank, _GPUS)
    head = f"nccl-test-mpi-worker-{host}:{30 + gpu}:{(number * 263 + rank) % 32768 + 100} [{gpu}] NCCL INFO "
    bus = _BUS[gpu]
    yield f"{head}Bootstrap : Using [0]eth0:10.128.{host}.148<0>"
    yield f"{head}NET/Plugin : No plugin found (libnccl-net.so), using internal implementation"
    devices = " ".join(f"[{index}]mlx5_{3 - index}:1/IB" for index in range(4))
    yield f"{head}NET/IB : Using {devices} ; OOB eth0:10.128.{host}.148<0>"
    yield f"{head}Using network IB"
    yield f"{head}Setting affinity for GPU {gpu} to ffff,f00000ff,fff00000"
    yield f"{head}threadThresholds 8/8/64 | {ranks * 8}/8/64 | 8/8/64"
    up, down = (rank - 1 if gpu else -1), (rank + 1 if gpu < _GPUS - 1 else -1)
    yield f"{head}Trees " + " ".join(f"[{index}] {down}/-1/-1->{rank}->{up}" for index in range(_CHANNELS))
    if rank == 0:
        for index in range(_CHANNELS):
            yield f"{head}Channel {index:02d}/{_CHANNELS:02d} : " + " ".join(f"{peer:4d}" for peer in range(ranks))
    for far in (1, -1, _GPUS, -_GPUS):
        for index in range(_CHANNELS):
            yield from _channel(head, index, rank, (rank + far) % ranks, bus)
    yield f"{head}Connected all rings"
    yield f"{head}Connected all trees"
    yield (
        f"{head}comm 0x{number * 7919 + rank:012x} rank {rank} nranks {ranks} cudaDev {gpu} nvmlDev {gpu} busId {bus} "
        "- Init COMPLETE"
    )
    if rank == 0:
        yield f"{head}Launch mode Parallel"


def _channel(head: str, index: int, rank: int, peer: int, bus: str) -> Iterator[str]:
    other = _BUS[peer % _GPUS]
    if rank // _GPUS == peer // _GPUS:
        yield f"{head}Channel {index:02d} : {rank}[{bus}] -> {peer}[{other}] via P2P/IPC/read"
        return
    device = rank % _GPUS // 2
    yield f"{head}Channel {index:02d} : {peer}[{other}] -> {rank}[{bus}] [receive] via NET/IB/{device}/GDRDMA"
    yield f"{head}Channel {index:02d} : {rank}[{bus}] -> {peer}[{other}] [send] via NET/IB/{device}/GDRDMA"


def _header(ranks: int) -> str:
    devices = "".join(
        f"#  Rank {rank:2d} Pid {30 + rank % _GPUS:6d} on nccl-test-mpi-worker-{rank // _GPUS} "
        f"device {rank % _GPUS:2d} [0x{_BUS[rank % _GPUS][:-3]:0>2}] {_GPU}\n"
        for rank in range(ranks)
    )
    return (
        "# nThread 1 nGpus 1 minBytes 8 maxBytes 268435456 step: 2(factor) warmup iters: 5 iters: 20 validation: 1 \n"
        f"#\n# Using devices\n{devices}NCCL version 2.7.8+cuda10.2\n"
    )
