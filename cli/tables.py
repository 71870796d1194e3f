"""The overview as tables."""

from collections.abc import Iterable, Sequence

from rich.markup import escape
from rich.table import Table

from cli.console import console
from cli.overview import FAILED, Overview, by_value

_FOLDED = {"name", "state", "claims", "rdma/*", "job", "nodes used"}
"""Columns that go on in the next line where the terminal is narrow; the others keep their width, and all are shown."""
_COLOURS = {"Succeeded": "green", FAILED: "red", "Running": "yellow"}


def show(found: Overview) -> None:
    """Print all tables of an overview."""
    _print(
        "Platform",
        ("kind", "name", "state"),
        ((part.kind, part.name, f"[{'green' if part.good else 'yellow'}]{part.state}[/]") for part in found.parts),
    )
    _print(
        "Tenants",
        ("namespace", "user ids", "claims", "GPUs in use"),
        ((tenant.namespace, tenant.uid_range, tenant.claims, tenant.gpus) for tenant in found.tenants),
    )
    _print(
        "Nodes",
        ("node", "roles", "ready", "nvidia.com/gpu", "rdma/*"),
        (
            (node.name, node.roles, "yes" if node.ready else "[red]no[/]", str(node.gpus or ""), by_value(node.rdma))
            for node in found.nodes
        ),
    )
    _print(
        "Jobs",
        ("job", "kind", "state", "nodes used", "time"),
        (
            (
                f"{job.namespace}/{job.name}",
                job.kind,
                f"[{_COLOURS.get(job.state, 'default')}]{job.state}[/]",
                ", ".join(node.split(".")[0] for node in job.nodes),
                f"{job.seconds:.0f} s" if job.seconds is not None else "",
            )
            for job in found.jobs
        ),
    )
    for job in found.jobs:
        for text in job.hindrances:
            console.print(f"[yellow]waiting[/] {job.namespace}/{job.name}: {escape(text)}")


def show_times(steps: Iterable[tuple[str, float]], peak: int, budget_note: str = "") -> None:
    """Print how long each step took, and the peak memory in bytes."""
    _print("Time", ("step", "seconds"), ((title, f"{seconds:.1f}") for title, seconds in steps))
    if peak:
        console.print(f"Peak resident memory of the simulated cluster: {peak / 2**20:.0f} MiB{budget_note}")


def _print(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, no_wrap=column not in _FOLDED, overflow="fold")
    filled = list(rows)
    for row in filled:
        table.add_row(*row)
    if filled:
        console.print(table)
        console.print()
