"""`./hpc status`: what is on the cluster, read live."""

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

from core.apis.kinds import Kind
from core.apis.names import GPU_RESOURCE
from core.wording import some
from toolkit.cli.shared import identity, metadata, session
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import Cell, print_notice, print_parts, print_text, show_rows, styled
from toolkit.cli.shared.hazards import examination, hazard_text
from toolkit.cli.shared.options import DEFAULT_STACK, OtherName, StackOption
from toolkit.cli.shared.preflight import constraints, operator_channels
from toolkit.cli.shared.stack import Stack
from toolkit.cli.status.jobs import FAILED
from toolkit.cli.status.overview import OURS, POOLS, RDMA, Node, Overview, by_value, overview
from toolkit.cli.status.platform_parts import with_channels

_ALONE = 16
"""Equal nodes that follow each other and have a row each; more share one."""
_OFFERS: Mapping[str, Callable[[Node], str]] = {
    POOLS: lambda node: node.pool,
    GPU_RESOURCE: lambda node: str(node.gpus or ""),
    "nvidia.com/mig-*": lambda node: by_value(node.slices),
    RDMA: lambda node: by_value(node.rdma),
}
_COLOURS = {"Succeeded": "green", FAILED: "red", "Running": "yellow"}


def command(stack_name: StackOption = DEFAULT_STACK, name: OtherName = None) -> None:
    """Show platform, tenants, nodes and jobs as on the cluster."""
    stack = stacks.read(stack_name, name)
    identity.warn_if_foreign(stack, session.cluster(stack))
    show_overview(look(stack))
    if stack.simulated:
        from toolkit.cli.shared.simulated import cluster  # noqa: PLC0415 - for simulated clusters alone

        if text := cluster.failure(stack):
            print_notice(text)


def look(stack: Stack) -> Overview:
    """Read the overview of a stack's cluster."""
    served = session.cluster(stack)
    settings = stack.settings
    cluster_overview = overview(
        partial(_own, served, settings.adopted), served.list, settings.version, settings.machine_config_pool
    )
    return replace(
        cluster_overview,
        parts=tuple(with_channels(cluster_overview.parts, operator_channels.examine(settings, served))),
        constraints=tuple(constraints.examine(settings, served, {*map(_kind_and_name, settings.adopted)})),
        hazards=tuple(examination.examine(settings, served)),
        expected=cluster_overview.expected
        | ({RDMA} if settings.uses_rdma else set())
        | ({POOLS} if settings.pools else set()),
    )


def _own(served: Cluster, adopted: Collection[str], kind: Kind) -> list[dict[str, Any]]:
    """Return the stack's objects of a kind: by its label, and those that it adopted, which do not have it."""
    objects = served.list(kind, labelSelector=OURS)
    names = {metadata.path(item) for item in objects}
    paths = [path for name, path in map(_kind_and_name, adopted) if name == kind.kind and path not in names]
    read = (served.read(kind, *(path.split("/") if "/" in path else ("", path))) for path in paths)
    return [*objects, *(item for item in read if item is not None)]


def _kind_and_name(adopted: str) -> tuple[str, str]:
    kind, _, path = adopted.partition("/")
    return kind, path


def show_overview(overview: Overview) -> None:
    """Print all tables of an overview."""
    show_rows(
        "Platform",
        ("kind", "name", "state"),
        ((part.kind, part.name, styled(part.state, "green" if part.good else "yellow")) for part in overview.parts),
    )
    for text in overview.failing:
        print_parts(styled("failing", "red"), f" {text}")
    hazard_text.show(overview.hazards)
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
    _show_nodes(overview.nodes, overview.expected)
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
    for found in overview.stuck:
        print_parts(styled("stuck", "red"), f" {found.place}: {found.cause}")
        if found.remedy:
            print_text(f"  {found.remedy}")


def _show_nodes(nodes: Sequence[Node], expected: Container[str]) -> None:
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
