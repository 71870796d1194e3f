"""The overview as tables."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import groupby

from rich.markup import escape
from rich.table import Table

from apis.names import GPU_RESOURCE
from cli.console import console
from cli.overview.jobs import FAILED
from cli.overview.look import RDMA, Node, Overview, by_value

_FOLDED = {
    *("name", "state", "claims", RDMA, "nvidia.com/mig-*", "job", "nodes used", "fits on", "ports", "value"),
    *("complete", "figures", "measured", "limit", "source"),
    *("object", "field", "on the cluster", "declared", "why"),
}
"""Columns that go on in the next line where the terminal is narrow; the others keep their width, and all are shown."""
_SHOWN = 16
"""Names of one row, or nodes alike, that are shown one by one."""
_OFFERS: Mapping[str, Callable[[Node], str]] = {
    GPU_RESOURCE: lambda node: str(node.gpus or ""),
    "nvidia.com/mig-*": lambda node: by_value(node.slices),
    RDMA: lambda node: by_value(node.rdma),
}
_COLOURS = {"Succeeded": "green", FAILED: "red", "Running": "yellow"}


def show(found: Overview) -> None:
    """Print all tables of an overview."""
    show_rows(
        "Platform",
        ("kind", "name", "state"),
        (
            (part.kind, part.name, f"[{'green' if part.good else 'yellow'}]{escape(part.state)}[/]")
            for part in found.parts
        ),
    )
    show_rows(
        "Tenants",
        ("namespace", "user ids", "claims", "GPUs in use"),
        ((tenant.namespace, tenant.uid_range, tenant.claims, tenant.gpus) for tenant in found.tenants),
    )
    show_rows(
        "Queues",
        ("queue", "state", "GPUs in use", "jobs waiting"),
        (
            (queue.name, "[green]active[/]" if queue.active else "[red]inactive[/]", queue.gpus, queue.waiting)
            for queue in found.queues
        ),
    )
    _nodes(found.nodes, found.expected)
    show_rows(
        "Jobs",
        ("job", "kind", "state", "nodes used", "time"),
        (
            (
                f"{job.namespace}/{job.name}",
                job.kind,
                f"[{_COLOURS.get(job.state, 'default')}]{job.state}[/]",
                some([node.split(".")[0] for node in job.nodes]),
                f"{job.seconds:.0f} s" if job.seconds is not None else "",
            )
            for job in found.jobs
        ),
    )
    for job in found.jobs:
        for text in job.hindrances:
            console.print(f"[yellow]waiting[/] {job.namespace}/{job.name}: {escape(text)}")


def _nodes(nodes: Sequence[Node], expected: Container[str]) -> None:
    """Print the nodes; many alike that follow each other share a row, and what no node is to offer has no column."""
    shown = {
        title: offer for title, offer in _OFFERS.items() if title in expected or any(offer(node) for node in nodes)
    }

    def cells(node: Node) -> tuple[str, ...]:
        return (node.roles, "yes" if node.ready else "[red]no[/]", *(offer(node) for offer in shown.values()))

    rows: list[Sequence[str]] = []
    for values, alike in groupby(nodes, cells):
        names = [node.name for node in alike]
        many = [f"{names[0]} to {names[-1]} ({len(names)})"] if len(names) > _SHOWN else names
        rows += [(name, *values) for name in many]
    show_rows("Nodes", ("node", "roles", "ready", *shown), rows)


def some(names: Sequence[str]) -> str:
    """Write names with commas; of very many the first, and how many more there are."""
    more = len(names) - _SHOWN
    return ", ".join([*names[:_SHOWN], *([f"and {more} more"] if more > 0 else [])])


def show_times(steps: Iterable[tuple[str, float]], peak: int, budget_note: str = "") -> None:
    """Print how long each step took, and the peak memory in bytes."""
    show_rows("Time", ("step", "seconds"), ((title, f"{seconds:.1f}") for title, seconds in steps))
    if peak:
        console.print(f"Peak resident memory of the simulated cluster: {peak / 2**20:.0f} MiB{budget_note}")


def show_rows(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print one table, if it has rows."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, no_wrap=column not in _FOLDED, overflow="fold")
    filled = list(rows)
    for row in filled:
        table.add_row(*row)
    if filled:
        console.print(table)
        console.print()
