"""Measures how time and memory grow with nodes, tenants and resources, and the program's own share of a preview.

    python -m bench.scale [--full] [--only program updates share state] [--runs 5]

By default it ends within some ten minutes; --full goes to 1,000 nodes and 300 tenants. Every figure is of this run. The
exponent is that of time over size, fitted; `slope, last/before` is what one more costs between the two largest sizes
over what it cost before, which leaves out costs that every size has: 1 is a straight line.
"""

import argparse
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench import program_cost, projects, updates
from bench.figures import Series, judge, print_machine, table
from bench.scaled import platform
from toolkit.cli.shared.console import console, show_rows
from toolkit.cli.shared.paths import ROOT

BUDGET = 1.15  # of the program's process, in CPU seconds, over its bare twin on the same SDK; at every size
FEW_NODES, FEW_TENANTS = 4, 3


@dataclass(frozen=True)
class Sizes:
    """What is measured."""

    nodes: Sequence[int]
    tenants: Sequence[int]
    cluster_nodes: Sequence[int]
    cluster_tenants: Sequence[int]
    share: Sequence[int]
    resources: tuple[int, ...]
    in_ways: int
    divided: tuple[int, tuple[int, ...]]


DEFAULT = Sizes((1, 10, 100), (1, 10, 30, 100), (4, 16), (3, 30), (3, 30), (50, 150, 450), 150, (450, (1, 3, 9)))
FULL = Sizes(
    nodes=(1, 10, 100, 1000),
    tenants=(1, 10, 30, 100, 300),
    cluster_nodes=(4, 30, 100, 1000),
    cluster_tenants=(3, 30, 100, 300),
    share=(3, 30, 100),
    resources=(100, 300, 1000),
    in_ways=300,
    divided=(1000, (1, 2, 5, 10)),
)


def main() -> int:
    """Measure and print; the exit status says whether all sizes ended, and the program kept its budget at each."""
    arguments = _arguments()
    sizes = FULL if arguments.full else DEFAULT
    parts: Mapping[str, Callable[[], bool]] = {
        "program": lambda: _program(sizes),
        "share": lambda: _share(sizes.share, arguments.runs),
        "state": lambda: _state(sizes),
        "updates": lambda: _updates(sizes),
    }
    kept = [parts[name]() for name in arguments.only or parts]
    return 0 if all(kept) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="up to 1,000 nodes and 300 tenants; takes an hour")
    parser.add_argument("--only", nargs="+", choices=("program", "share", "state", "updates"), help="parts to measure")
    parser.add_argument("--runs", type=int, default=5, help="previews of each program")
    return parser.parse_args()


def _program(sizes: Sizes) -> bool:
    """Measure settings, render and policies, each size in a process of its own."""
    titles = {"load": "load, CPU s", "render": "render, CPU s", "policies": "policies, CPU s", "memory": "peak, MiB"}
    counts = {"resources": "resources", "dependencies": "dependencies"}
    nodes = {size: program_cost.measured(size, 1) for size in sizes.nodes}
    _print(table("settings, render and policies by nodes, 1 tenant", "nodes", _columns(nodes, titles | counts), 3))
    tenants = {size: program_cost.measured(FEW_NODES, size) for size in sizes.tenants}
    _print(table(f"the same by tenants, {FEW_NODES} nodes", "tenants", _columns(tenants, titles | counts), 3))
    return True


def _updates(sizes: Sizes) -> bool:
    """Measure the engine on simulated clusters; the cluster and the offline provider are part of the time."""
    titles = {
        "resources": "resources",
        "preview": "preview, s",
        "up": "up, s",
        "second preview": "second preview, s",
        "engine": "engine, MiB",
        "cluster": "cluster, MiB",
        "state": "state, MiB",
        "written": "written, MiB",
    }
    nodes = _by_size(sizes.cluster_nodes, lambda size: updates.measured(size, FEW_TENANTS))
    _print(table(f"updates of a simulated cluster by nodes, {FEW_TENANTS} tenants", "nodes", _columns(nodes, titles)))
    tenants = _by_size(sizes.cluster_tenants, lambda size: updates.measured(FEW_NODES, size))
    _print(table(f"the same by tenants, {FEW_NODES} nodes", "tenants", _columns(tenants, titles)))
    return len(nodes) == len(sizes.cluster_nodes) and len(tenants) == len(sizes.cluster_tenants)


def _by_size(sizes: Sequence[int], measure: Callable[[int], dict[str, float]]) -> dict[int, dict[str, float]]:
    figures = {}
    for size in sizes:
        try:
            figures[size] = measure(size)
        except projects.FailedError as error:
            console.print(f"size {size} did not come to its end:\n{error}")
            break
    return figures


def _share(tenants: Sequence[int], runs: int) -> bool:
    """Compare previews without a cluster: the program, and its twins that register the same as plain dictionaries."""
    lines, ratios = [], []
    for size in tenants:
        with updates.folder() as where:
            values = platform(ROOT, FEW_NODES, size)
            registrations = projects.recorded(projects.read(values))
            stacks = [
                projects.project(where / "ours", values),
                projects.twin(where / "kubernetes", registrations, "kubernetes"),
                projects.twin(where / "core", registrations, "core"),
            ]
            # In turns, so that all meet the same machine.
            taken = [[projects.run(stack, "preview") for stack in stacks] for _ in range(runs)]
        whole = [statistics.median(run.seconds for run in column) for column in zip(*taken, strict=True)]
        own = [statistics.median(run.program for run in column) for column in zip(*taken, strict=True)]
        to_typed, to_core = (
            statistics.median(turn[0].program / turn[twin].program for turn in taken) for twin in (1, 2)
        )
        ratios.append(to_typed)
        figures = (*own, to_typed, to_core, *whole)
        lines.append([str(size), str(len(registrations)), *(f"{figure:.2f}" for figure in figures)])
    programs = ("program", "Kubernetes SDK", "core SDK")
    headings = (
        *(f"{program}, CPU s" for program in programs),
        "to first",
        "to second",
        *(f"{program}, s" for program in programs),
    )
    title = f"preview of the program and of its bare twins: CPU of their processes, and all of it; medians of {runs}"
    show_rows(title, ("tenants", "resources", *headings), lines)
    print_machine()
    return judge("CPU time of the program over its twin's", max(ratios), BUDGET)


def _state(sizes: Sizes) -> bool:
    """Measure what the engine writes, and what helps."""
    _print(table("updates without a provider by resources, file backend", "resources", updates.growth(sizes.resources)))
    lines = [[name, f"{seconds:.1f}", f"{mib:.1f}"] for name, seconds, mib in updates.ways(sizes.in_ways)]
    show_rows(f"the same for {sizes.in_ways} resources, in other ways", ("way", "up, s", "written, MiB"), lines)
    print_machine()
    count, parts = sizes.divided
    divided = [
        [str(stacks), f"{seconds:.1f}", f"{mib:.1f}", f"{share:.1f}"]
        for stacks, seconds, mib, share in updates.divided(count, parts)
    ]
    headings = ("stacks", "all, s", "all, MiB written", "one, s")
    show_rows(f"{count} resources in several stacks, one after another", headings, divided)
    print_machine()
    return True


def _columns(figures: Mapping[int, Mapping[str, float]], titles: Mapping[str, str]) -> dict[str, Series]:
    return {title: {size: row[name] for size, row in figures.items()} for name, title in titles.items()}


def _print(made: object) -> None:
    console.print(made)
    print_machine()


if __name__ == "__main__":
    sys.exit(main())
