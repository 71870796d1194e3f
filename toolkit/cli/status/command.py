"""`./hpc status`: what is on the cluster, read live."""

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Any

from core.apis.kinds import Kind
from toolkit.cli.shared import constraints, identity, metadata, operator_channels, session
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import print_notice
from toolkit.cli.shared.options import DEFAULT_STACK, OtherName, StackOption
from toolkit.cli.shared.stack import Stack
from toolkit.cli.status import tables
from toolkit.cli.status.overview import OURS, POOLS, RDMA, Overview, overview
from toolkit.cli.status.platform_parts import with_channels


def command(stack: StackOption = DEFAULT_STACK, name: OtherName = None) -> None:
    """Show platform, tenants, nodes and jobs as on the cluster."""
    wanted = stacks.read(stack, name)
    identity.warn_if_foreign(wanted, session.cluster(wanted))
    tables.show(look(wanted))
    if wanted.simulated:
        from toolkit.cli.shared.simulated import cluster  # noqa: PLC0415 - for simulated clusters alone

        if text := cluster.failure(wanted):
            print_notice(text)


def look(wanted: Stack) -> Overview:
    """Read the overview of a stack's cluster."""
    served = session.cluster(wanted)
    settings = wanted.settings
    found = overview(
        partial(_own, served, settings.adopted), served.list, settings.version, settings.machine_config_pool
    )
    return replace(
        found,
        parts=tuple(with_channels(found.parts, operator_channels.examine(settings, served))),
        constraints=tuple(constraints.examine(settings, served, {*map(_kind_and_name, settings.adopted)})),
        expected=found.expected | ({RDMA} if settings.uses_rdma else set()) | ({POOLS} if settings.pools else set()),
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
