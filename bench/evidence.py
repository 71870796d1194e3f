"""Measures, in one run on the same file: reading a big NCCL_DEBUG=INFO log beside `grep -c NCCL`, and peak memory.

    python -m bench.evidence [--size 1024] [--runs 3]

The log is written first, into a folder that is removed again. Its program creates communicators of 16, 64 and 256
ranks on hosts of eight GPUs over and over, each with threads and addresses of its own. Every rank prints its devices,
rings, trees and channels, in the order in which ranks happen to write, among some lines of other programs; a table is
at the end. The log is the same on every machine. More logs, of a quarter of its size, are read after it: the same
behind the times of kubectl, runs of nccl-tests one after another, and logs of trainings: tf_cnn_benchmarks behind
mpirun's tags, DLLogger, PyTorch's ranks behind torchrun's, with and without times and metrics, and text whose words
change in every line. Processes are measured by processor time, because the machine may be busy: beside grep with the
start of Python, else the reading alone. Every figure is of this run on this machine; none is stored.
"""

import argparse
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from apis.metric import Metric
from bench.verdicts import judge, print_machine
from cli.shared.console import console
from hardware.measured import REDPAPER_MACHINE
from hardware.profiles import profile

READ = (sys.executable, "-m", "bench.evidence", "--read")
MB = 1_000_000
MIB = 1 << 20
LEAST_MB_PER_SECOND = 200.0
TIMES_GREP = 1.5
MOST_MEMORY_MIB = 200.0
LEAST_TRAINING, LEAST_TIMED = 100.0, 200.0
_METRICS = (
    Metric(name="throughput", pattern=r"throughput: ([\d.,]+) samples/s", value="median", warm_up=2),
    Metric(name="loss", pattern=r"loss (\S+)", better="lower"),
)
_GPUS, _CHANNELS, _SIZES = 8, 8, (16, 64, 256)
_GPU = profile(REDPAPER_MACHINE).gpu.model
_BUS = ("6000", "7000", "a000", "b000", "85000", "86000", "89000", "8a000")
_NOISE = (
    "Warning: Permanently added 'nccl-test-mpi-worker-3,10.128.7.148' (ECDSA) to the list of known hosts.",
    "+ POD_NAME=nccl-test-mpi-worker-1",
    "WARNING: Open MPI accepted a TCP connection from what appears to be a",
)


@dataclass(frozen=True)
class Run:
    """One process: processor time in seconds, and its output."""

    cpu: float
    output: bytes


class Other(NamedTuple):
    """A log that is read beside the big one; `least` is the goal in MB/s, None: none."""

    title: str
    parts: Iterator[str]
    least: float | None = None
    metrics: bool = False


def main() -> int:
    """Measure, print, and return 0 if the goals were reached."""
    arguments = _arguments()
    if arguments.read is not None:
        print(json.dumps(_read(arguments.read, _METRICS if arguments.metrics else ())))  # noqa: T201 - for the process above
        return 0
    with tempfile.TemporaryDirectory(prefix="hpc-bench-") as folder:
        return 0 if _measure(Path(folder), arguments.size, arguments.runs) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1024, help="MiB of the log of NCCL")
    parser.add_argument("--runs", type=int, default=3, help="repetitions; the median counts")
    parser.add_argument("--read", type=Path, help="read that file, in this process")
    parser.add_argument("--metrics", action="store_true", help="with metrics, too")
    return parser.parse_args()


def _measure(folder: Path, size: int, runs: int) -> bool:
    log = _write(folder / "nccl.log", size * MIB, _program(), _table())
    size_mb = log.stat().st_size / MB
    grep, reading, found = [], [], {}
    for _ in range(runs):
        grep.append(_run("grep", "-c", "NCCL", log))
        reading.append(_run(*READ, log))
        found = json.loads(reading[-1].output)
    lines = int(grep[0].output)
    by_grep, taken = (statistics.median(run.cpu for run in each) for each in (grep, reading))
    allowed = max(size_mb / LEAST_MB_PER_SECOND, TIMES_GREP * by_grep)
    console.print(
        f"{size_mb:.0f} MB, {lines} lines with NCCL, {found['readings']} runs, {found['channels']} channels, "
        f"{found['unread']} lines of no tool\n"
        f"processor time, median of {runs}: grep {by_grep:.2f} s, reading {taken:.2f} s "
        f"({size_mb / taken:.0f} MB/s; {taken / by_grep:.1f} x grep)"
    )
    good = judge("time over the longer of 200 MB/s and 1.5 x grep", taken / allowed, 1.0)
    good &= judge("peak memory, MiB", found["memory_mib"], MOST_MEMORY_MIB)
    log.unlink()
    for other in _others():
        log = _write(folder / "other.log", size * MIB // 4, other.parts)
        options = ["--metrics"] if other.metrics else []
        rows = [json.loads(_run(*READ, log, *options).output) for _ in range(runs)]
        rate = log.stat().st_size / MB / statistics.median(one["seconds"] for one in rows)
        if other.least is None:
            console.print(f"  {other.title:52} {rate:8.0f}", markup=False)
        else:
            good &= judge(f"{other.title}, MB/s", rate, other.least, least=True)
    print_machine()
    return good


def _run(*command: str | Path) -> Run:
    before = os.times()
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    after = os.times()
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    return Run(cpu, done.stdout)


def _read(log: Path, metrics: Sequence[Metric]) -> dict[str, float]:
    from evidence.metrics import read_log  # noqa: PLC0415 - the other process does not need it

    before = time.process_time()
    readings = read_log(log, metrics)
    seconds = time.process_time() - before
    nccl_readings = [reading.nccl for reading in readings if reading.nccl is not None]
    status = Path("/proc/self/status").read_text()
    return {
        "readings": len(readings),
        "channels": sum(sum(one.transports.values()) for one in nccl_readings),
        "unread": sum(reading.unread_total for reading in readings),
        "seconds": seconds,
        "memory_mib": int(status.partition("VmHWM:")[2].split()[0]) / 1024,
    }


def _write(path: Path, size: int, parts: Iterator[str], end: str = "") -> Path:
    with path.open("w") as file:
        while file.tell() < size:
            file.write(next(parts))
        file.write(end)
    return path


def _program() -> Iterator[str]:
    yield _header(max(_SIZES))
    for number, ranks in enumerate(itertools.cycle(_SIZES)):
        yield _communicator(number, ranks)


def _repeated() -> Iterator[str]:
    for number, ranks in enumerate(itertools.cycle(_SIZES)):
        yield _header(ranks) + _communicator(number, ranks) + _table()


def _timed(parts: Iterator[str]) -> Iterator[str]:
    for part in parts:
        yield "".join(
            f"2026-11-21T20:{number // 60000 % 60:02d}:{number // 1000 % 60:02d}.{number % 1000:03d}482917Z {line}\n"
            for number, line in enumerate(part.splitlines())
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
            yield f"{head}Channel {index:02d}/{_CHANNELS:02d} : " + " ".join(f"{one:4d}" for one in range(ranks))
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


def _table() -> str:
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


def _others() -> Iterator[Other]:
    """Yield the logs that are read beside the big one."""
    yield Other("the same with kubectl's times", _timed(_program()), LEAST_TIMED)
    yield Other("runs of nccl-tests one after another", _repeated())
    yield Other("tf_cnn_benchmarks of 16 ranks", _training(), LEAST_TRAINING)
    yield Other("the same with kubectl's times", _timed(_training()), LEAST_TRAINING)
    yield Other("DLLogger", _dllogger(), LEAST_TRAINING)
    yield Other("PyTorch of 8 ranks", _ranks(), LEAST_TRAINING)
    yield Other("the same with kubectl's times", _timed(_ranks()), LEAST_TRAINING)
    yield Other("PyTorch of 8 ranks, with two metrics", _ranks(), metrics=True)
    yield Other("other words in every line", _words())


def _ranks() -> Iterator[str]:
    yield "".join(f"{line}\n" for rank in range(8) for line in _rank(rank, 8, 0))
    for step in itertools.count(1):
        yield "".join(
            f"[rank{rank}]: [2026-11-21 20:00:{step % 60:02d},{step % 1000:03d}] INFO epoch {step // 1000} step {step} "
            f"loss {7 / (1 + step / 1000):.4f} lr 1.00e-03 throughput: {4000 + step * rank % 99 / 10:.1f} samples/s\n"
            for rank in range(8)
        )


def _dllogger() -> Iterator[str]:
    for step in itertools.count(1):
        yield (
            f"DLL 2020-01-01 10:{step // 60 % 60:02d}:{step % 60:02d}.{step % 1000:06d} - ({step // 1000}, {step}) "
            f"train.loss : {7 - step % 7 / 100:.5f} train.total_ips : {12000 + step % 99:.2f} img/s\n"
        )


def _words() -> Iterator[str]:
    chance = random.Random(1)  # noqa: S311 - a log that is the same each time
    words = ["".join(chance.choices("abcdefghijklmnop", k=chance.randint(3, 9))) for _ in range(3000)]
    while True:
        yield " ".join(chance.choices(words, k=14)) + "\n"


def _training() -> Iterator[str]:
    yield "".join(f"[1,{rank}]<stdout>:TensorFlow:  2.1\n" for rank in range(16))
    step = 0
    while True:
        step += 10
        yield "".join(
            f"[1,{rank}]<stdout>:{step}\timages/sec: {700 + rank / 10:.1f} +/- 0.9 (jitter = 2.2)\t7.{step % 999:03d}\n"
            for rank in range(16)
        )


if __name__ == "__main__":
    sys.exit(main())
