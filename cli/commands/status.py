"""`./hpc status`: what is on the cluster, read live."""

from collections.abc import Sequence
from typing import Any

from apis.kinds import Kind
from cli import session, tables
from cli import stack as stacks
from cli.commands.options import DEFAULT_STACK, OtherName, StackOption
from cli.overview import OURS, Overview, overview
from cli.stack import Stack
from stacks.releases import RELEASES


def command(stack: StackOption = DEFAULT_STACK, name: OtherName = None) -> None:
    """Show the parts of the platform, tenants, nodes and jobs of a stack, live."""
    tables.show(look(stacks.read(stack, name)))


def look(wanted: Stack) -> Overview:
    """Read the overview of a stack's cluster."""
    cluster = session.cluster(wanted)

    def ours(kind: Kind) -> Sequence[dict[str, Any]]:
        return cluster.list(kind, labelSelector=OURS)

    settings = wanted.settings
    return overview(ours, cluster.list, RELEASES[settings.release].mpi_job, settings.machine_config_pool)
