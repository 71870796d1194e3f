"""`./hpc status`: what is on the cluster, read live."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from apis.kinds import Kind
from cli import identity, session, tables
from cli import stack as stacks
from cli.commands.options import DEFAULT_STACK, OtherName, StackOption
from cli.console import errors
from cli.overview.look import OURS, RDMA, Overview, overview
from cli.stack import Stack
from simulator import cluster


def command(stack: StackOption = DEFAULT_STACK, name: OtherName = None) -> None:
    """Show the parts of the platform, tenants, nodes and jobs of a stack, live."""
    wanted = stacks.read(stack, name)
    identity.warn(wanted, session.cluster(wanted))
    tables.show(look(wanted))
    if wanted.simulated and (text := dead(cluster.status(wanted.home), wanted)):
        errors.print(text, markup=False)


def dead(found: cluster.ClusterStatus, wanted: Stack) -> str:
    """Say which processes of a simulated cluster have died, with what to do; nothing when all of them run."""
    names = [process.name for process in found.processes if not process.alive]
    if not names:
        return ""
    which = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} dead"
    return f"simulated cluster {found.name}: {which}; `./hpc sim up {wanted.options}` starts what is missing"


def look(wanted: Stack) -> Overview:
    """Read the overview of a stack's cluster."""
    served = session.cluster(wanted)

    def ours(kind: Kind) -> Sequence[dict[str, Any]]:
        return served.list(kind, labelSelector=OURS)

    settings = wanted.settings
    found = overview(ours, served.list, settings.version, settings.machine_config_pool)
    return replace(found, expected=found.expected | ({RDMA} if settings.uses_rdma else set()))
