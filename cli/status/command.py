"""`./hpc status`: what is on the cluster, read live."""

from dataclasses import replace
from functools import partial

from cli.shared import constraints, identity, operator_channels, session
from cli.shared import stack as stacks
from cli.shared.console import print_notice
from cli.shared.options import DEFAULT_STACK, OtherName, StackOption
from cli.shared.stack import Stack
from cli.status import tables
from cli.status.overview import OURS, RDMA, Overview, overview
from cli.status.platform_parts import with_channels
from simulator import cluster


def command(stack: StackOption = DEFAULT_STACK, name: OtherName = None) -> None:
    """Show platform, tenants, nodes and jobs as on the cluster."""
    wanted = stacks.read(stack, name)
    identity.warn_if_foreign(wanted, session.cluster(wanted))
    tables.show(look(wanted))
    if wanted.simulated and (text := dead(cluster.status(wanted.home), wanted)):
        print_notice(text)


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
    settings = wanted.settings
    found = overview(
        partial(served.list, labelSelector=OURS), served.list, settings.version, settings.machine_config_pool
    )
    return replace(
        found,
        parts=tuple(with_channels(found.parts, operator_channels.examine(settings, served))),
        constraints=tuple(constraints.examine(settings, served)),
        expected=found.expected | ({RDMA} if settings.uses_rdma else set()),
    )
