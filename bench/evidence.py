"""Measures, in one run on the same file: reading a big NCCL_DEBUG=INFO log beside `grep -c NCCL`, and peak memory.

    python -m bench.evidence [--size 1024] [--runs 3]

The log is written first, into a folder that is removed again: a program's communicators, with a table at the end. More
logs, of a quarter of its size, are read after it: the same behind the times of kubectl, runs of nccl-tests one after
another, and logs of trainings, one of them with and without metrics; the goodput of trainings is read from logs of the
whole size. `bench/large_logs.py` describes and writes them.
Processes are measured by processor time, because the machine may be busy: beside grep with the start of Python, else
the reading alone. Every figure is of this run on this machine; none is stored.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench import large_logs
from bench.figures import judge, print_machine, run
from core.goodput import GoodputLines
from core.metric import Metric
from toolkit.cli.shared.console import console

READ = (sys.executable, "-m", "bench.evidence", "--read")
MB = 1_000_000
MIB = 1 << 20
LEAST_MB_PER_SECOND = 200.0
TIMES_GREP = 1.5
MOST_MEMORY_MIB = 200.0
LEAST_TRAINING, LEAST_TIMED, LEAST_GOODPUT = 100.0, 200.0, 100.0
_GOODPUT = GoodputLines(step=r"step (\d+)", started=r"starts \d+ ranks", resumed=r"resumed at (\d+)")
_METRICS = (
    Metric(name="throughput", pattern=r"throughput: ([\d.,]+) samples/s", value="median", warm_up=2),
    Metric(name="loss", pattern=r"loss (\S+)", better="lower"),
)


class Other(NamedTuple):
    """A log that is read beside the big one; `least` is the goal in MB/s, None: none."""

    title: str
    parts: Iterator[str]
    least: float | None = None
    metrics: bool = False
    goodput: bool = False
    """Whether its goodput is read alone, from a log of the whole size."""


def main() -> int:
    """Measure, print, and return 0 if the goals were reached."""
    arguments = _arguments()
    if arguments.read is not None:
        metrics = _METRICS if arguments.metrics else ()
        figures = _read_goodput(arguments.read) if arguments.goodput else _read(arguments.read, metrics)
        print(json.dumps(figures))  # noqa: T201 - for the process above
        return 0
    with tempfile.TemporaryDirectory(prefix="hpc-bench-") as folder:
        return 0 if _measure(Path(folder), arguments.size, arguments.runs) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1024, help="MiB of the log of NCCL")
    parser.add_argument("--runs", type=int, default=3, help="repetitions; the median counts")
    parser.add_argument("--read", type=Path, help="read that file, in this process")
    parser.add_argument("--metrics", action="store_true", help="with metrics, too")
    parser.add_argument("--goodput", action="store_true", help="its goodput alone")
    return parser.parse_args()


def _measure(folder: Path, size: int, runs: int) -> bool:
    log = _write(folder / "nccl.log", size * MIB, large_logs.program(), large_logs.table())
    size_mb = log.stat().st_size / MB
    grep, reading, summary = [], [], {}
    for _ in range(runs):
        grep.append(run("grep", "-c", "NCCL", log))
        reading.append(run(*READ, log))
        summary = json.loads(reading[-1].output)
    lines = int(grep[0].output)
    by_grep, taken = (statistics.median(run_.cpu for run_ in runs_of_one) for runs_of_one in (grep, reading))
    allowed = max(size_mb / LEAST_MB_PER_SECOND, TIMES_GREP * by_grep)
    console.print(
        f"{size_mb:.0f} MB, {lines} lines with NCCL, {summary['readings']} runs, {summary['channels']} channels, "
        f"{summary['unread']} lines of no tool\n"
        f"processor time, median of {runs}: grep {by_grep:.2f} s, reading {taken:.2f} s "
        f"({size_mb / taken:.0f} MB/s; {taken / by_grep:.1f} x grep)"
    )
    good = judge("time over the longer of 200 MB/s and 1.5 x grep", taken / allowed, 1.0)
    good &= judge("peak memory, MiB", summary["memory_mib"], MOST_MEMORY_MIB)
    log.unlink()
    for other in _other_logs():
        log = _write(folder / "other.log", size * MIB // (1 if other.goodput else 4), other.parts)
        options = ["--metrics"] if other.metrics else ["--goodput"] if other.goodput else []
        rows = [json.loads(run(*READ, log, *options).output) for _ in range(runs)]
        rate = log.stat().st_size / MB / statistics.median(row["seconds"] for row in rows)
        if other.least is None:
            console.print(f"  {other.title:52} {rate:8.0f}")
        else:
            good &= judge(f"{other.title}, MB/s", rate, other.least, least=True)
    print_machine()
    return good


def _read(log: Path, metrics: Sequence[Metric]) -> dict[str, float]:
    from toolkit.evidence.metrics import read_log  # noqa: PLC0415 - the other process does not need it

    before = time.process_time()
    readings = read_log(log, metrics)
    seconds = time.process_time() - before
    nccl_readings = [reading.nccl for reading in readings if reading.nccl is not None]
    status = Path("/proc/self/status").read_text()
    return {
        "readings": len(readings),
        "channels": sum(sum(reading.transports.values()) for reading in nccl_readings),
        "unread": sum(reading.unread_total for reading in readings),
        "seconds": seconds,
        "memory_mib": int(status.partition("VmHWM:")[2].split()[0]) / 1024,
    }


def _read_goodput(log: Path) -> dict[str, float]:
    from toolkit.evidence.goodput.reading import read_logs  # noqa: PLC0415 - the other process does not need it

    before = time.process_time()
    goodput = read_logs([log], _GOODPUT)
    return {
        "seconds": time.process_time() - before,
        "steps": goodput.steps,
        "interruptions": len(goodput.interruptions),
    }


def _write(path: Path, size: int, parts: Iterator[str], end: str = "") -> Path:
    with path.open("w") as file:
        while file.tell() < size:
            file.write(next(parts))
        file.write(end)
    return path


def _other_logs() -> Iterator[Other]:
    """Yield the logs that are read beside the big one."""
    yield Other("the same with kubectl's times", large_logs.timed(large_logs.program()), LEAST_TIMED)
    yield Other("runs of nccl-tests one after another", large_logs.repeated())
    yield Other("tf_cnn_benchmarks of 16 ranks", large_logs.tf_cnn_benchmarks(), LEAST_TRAINING)
    yield Other("the same with kubectl's times", large_logs.timed(large_logs.tf_cnn_benchmarks()), LEAST_TRAINING)
    yield Other("DLLogger", large_logs.dllogger(), LEAST_TRAINING)
    yield Other("PyTorch of 8 ranks", large_logs.pytorch(), LEAST_TRAINING)
    yield Other("the same with kubectl's times", large_logs.timed(large_logs.pytorch()), LEAST_TRAINING)
    yield Other("PyTorch of 8 ranks, with two metrics", large_logs.pytorch(), metrics=True)
    yield Other("other words in every line", large_logs.words())
    yield Other("goodput of a rank's step lines", large_logs.restarted(), LEAST_GOODPUT, goodput=True)
    eight = large_logs.timed(large_logs.pytorch())
    yield Other("goodput of PyTorch of 8 ranks, with kubectl's times", eight, LEAST_GOODPUT, goodput=True)


if __name__ == "__main__":
    sys.exit(main())
