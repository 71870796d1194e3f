"""What runs on a cluster, as tables."""

from collections.abc import Callable, Container, Mapping, Sequence
from itertools import groupby

from core.apis.names import GPU_RESOURCE
from core.wording import some
from toolkit.cli.shared.console import Cell, print_parts, show_rows, styled
from toolkit.cli.status.jobs import FAILED
from toolkit.cli.status.overview import POOLS, RDMA, Node, Overview, by_value

_ALONE = 16
"""Equal nodes that follow each other and have a row each; more share one."""
_OFFERS: Mapping[str, Callable[[Node], str]] = {
    POOLS: lambda node: node.pool,
    GPU_RESOURCE: lambda node: str(node.gpus or ""),
    "nvidia.com/mig-*": lambda node: by_value(node.slices),
    RDMA: lambda node: by_value(node.rdma),
}
_COLOURS = {"Succeeded": "green", FAILED: "red", "Running": "yellow"}


def show(overview: Overview) -> None:
    """Print all tables of an overview."""
    show_rows(
        "Platform",
        ("kind", "name", "state"),
        ((part.kind, part.name, styled(part.state, "green" if part.good else "yellow")) for part in overview.parts),
    )
    show_rows(
        "Tenants",
        ("namespace", "user ids", "claims", "GPUs in use"),
        ((tenant.namespace, tenant.uid_range, tenant.claims, tenant.gpus) for tenant in overview.tenants),
    )
    show_rows(
        "Queues",
        ("queue", "state", "GPUs in use", "jobs waiting"),
        (
            (
                queue.name,
                styled("active", "green") if queue.active else styled("inactive", "red"),
                queue.gpus,
                queue.waiting,
            )
            for queue in overview.queues
        ),
    )
    show_rows(
        "Not of this stack, and deciding about its pods",
        ("kind", "name", "what it sets"),
        ((constraint.kind, constraint.name, styled(constraint.text, "yellow")) for constraint in overview.constraints),
    )
    _nodes(overview.nodes, overview.expected)
    show_rows(
        "Jobs",
        ("job", "kind", "state", "nodes used", "time"),
        (
            (
                f"{job.namespace}/{job.name}",
                job.kind,
                styled(job.state, _COLOURS.get(job.state, "default")),
                some([node.split(".")[0] for node in job.nodes]),
                f"{job.seconds:.0f} s" if job.seconds is not None else "",
            )
            for job in overview.jobs
        ),
    )
    for job in overview.jobs:
        for text in job.hindrances:
            print_parts(styled("waiting", "yellow"), f" {job.namespace}/{job.name}: {text}")


def _nodes(nodes: Sequence[Node], expected: Container[str]) -> None:
    """Print the nodes; equal ones that follow each other share a row, and what no node is to offer has no column."""
    shown = {
        title: offer for title, offer in _OFFERS.items() if title in expected or any(offer(node) for node in nodes)
    }

    def cells(node: Node) -> tuple[Cell, ...]:
        return (node.roles, "yes" if node.ready else styled("no", "red"), *(offer(node) for offer in shown.values()))

    rows: list[Sequence[Cell]] = []
    for values, same in groupby(nodes, cells):
        names = [node.name for node in same]
        many = [f"{names[0]} to {names[-1]} ({len(names)})"] if len(names) > _ALONE else names
        rows += [(name, *values) for name in many]
    show_rows("Nodes", ("node", "roles", "ready", *shown), rows)
