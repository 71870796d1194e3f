"""`./hpc status`: what is on the cluster, read live."""

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Any

from core.apis.kinds import Kind
from toolkit.cli.shared import identity, metadata, session
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import print_notice
from toolkit.cli.shared.options import DEFAULT_STACK, OtherName, StackOption
from toolkit.cli.shared.preflight import constraints, operator_channels
from toolkit.cli.shared.stack import Stack
from toolkit.cli.status import tables
from toolkit.cli.status.overview import OURS, POOLS, RDMA, Overview, overview
from toolkit.cli.status.platform_parts import with_channels


def command(stack_name: StackOption = DEFAULT_STACK, name: OtherName = None) -> None:
    """Show platform, tenants, nodes and jobs as on the cluster."""
    stack = stacks.read(stack_name, name)
    identity.warn_if_foreign(stack, session.cluster(stack))
    tables.show(look(stack))
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
    """Return the kind and the name, with a namespace where it has one, of an object in the settings."""
    kind, _, path = adopted.partition("/")
    return kind, path
