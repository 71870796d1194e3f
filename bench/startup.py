"""Measures, in one run: cluster start to nodes Ready, first and warm `./hpc up`, and peak memory.

    python -m bench.startup [--runs 3] [--no-up]

A home of its own is used and removed: the clusters of this checkout are not touched. Tools are built first where
missing, and not measured. Every figure is of this run on this machine; none is stored.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.figures import judge, print_machine
from toolkit.cli.shared.console import Reporter, console
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.simulated import spec as simulated_spec
from toolkit.cli.shared.simulated.cluster import MIB, Peak
from toolkit.cli.shared.stack import read
from toolkit.engine import tools
from toolkit.simulator import cluster

BUDGETS = {
    "cluster start to nodes Ready, s": 10.0,
    "first ./hpc up (everything built), s": 60.0,
    "warm ./hpc up, s": 8.0,
    "peak resident memory, MiB": 2.5 * 1024,
}


def main() -> int:
    """Measure and print; the exit status says whether all budgets were kept."""
    arguments = _arguments()
    tools.ensure(progress=Reporter())
    with tempfile.TemporaryDirectory(prefix="hpc-bench-") as folder:
        os.environ["HPC_SIM_HOME"] = folder
        try:
            measured = _measure(arguments.runs, with_up=not arguments.no_up)
        finally:
            for path in Path(folder).iterdir():
                if path.is_dir():
                    cluster.clean(path)
    console.print(f"\nmedian of {arguments.runs} where repeated")
    print_machine()
    kept = [judge(title, value, BUDGETS[title]) for title, value in measured.items()]
    return 0 if all(kept) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="repetitions of the start and of the warm update")
    parser.add_argument("--no-up", action="store_true", help="measure the cluster alone")
    return parser.parse_args()


def _measure(runs: int, *, with_up: bool) -> dict[str, float]:
    stack = read("dev")
    measured: dict[str, float] = {}
    with Peak(stack.home) as peak:
        measured["cluster start to nodes Ready, s"] = statistics.median(_start(stack.home) for _ in range(runs))
        if with_up:
            cluster.clean(stack.home)
            measured["first ./hpc up (everything built), s"] = _timed(_up)
            measured["warm ./hpc up, s"] = statistics.median(_timed(_up) for _ in range(runs))
    measured["peak resident memory, MiB"] = peak.bytes / MIB
    return measured


def _start(where: Path) -> float:
    if where.exists():
        cluster.clean(where)
    seconds = _timed(lambda: _until_ready(cluster.up(simulated_spec.of(read("dev"))).home))
    console.print(f"cluster start to nodes Ready: {seconds:.1f} s")
    return seconds


def _until_ready(where: Path) -> None:
    deadline = time.monotonic() + 60
    while not (nodes := cluster.status(where).nodes) or any(node.state != "Ready" for node in nodes):
        if time.monotonic() > deadline:
            raise SystemExit("the nodes are not Ready after 60 s")
        time.sleep(0.1)


def _up() -> None:
    done = subprocess.run(
        [ROOT / "hpc", "up"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"./hpc up failed:\n{done.stdout}")
    console.print(done.stdout.strip().splitlines()[-1])


def _timed(work: Callable[[], None]) -> float:
    begin = time.monotonic()
    work()
    return time.monotonic() - begin


if __name__ == "__main__":
    sys.exit(main())
