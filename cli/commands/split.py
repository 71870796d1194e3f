"""`./hpc split`: from one stack to a platform and its tenants, without a change on the cluster."""

from typing import Annotated

import typer

from cli import identity, layers, session, splitting
from cli import stack as stacks
from cli.commands.options import OtherName
from cli.console import console
from cli.events import short

TenantsOption = Annotated[str, typer.Option("--stack", "-s", help="Stack of tenants, whose file names the platform.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Move; without it, only show what would be moved.")]


def command(stack: TenantsOption, name: OtherName = None, *, yes: YesOption = False) -> None:
    """Move what a stack of tenants declares out of the state of its platform, which was a stack of all layers before.

    Nothing is made, changed or deleted on the cluster. docs/layers.md says what to do before and after.
    """
    wanted = stacks.read(stack, name)
    platform = splitting.platform_of(wanted)
    with session.alone(wanted):
        layers.require_platform(wanted)
        running = session.engine(wanted)
        settled = session.engine(platform)
        cluster = session.cluster(platform)
        standing = identity.require(platform, cluster, platform.backend, settled)
        theirs = identity.require(wanted, cluster, wanted.backend, running)
        urns = splitting.to_move(wanted, platform, settled)
        if not urns:
            console.print(f"the state of stack {platform.name} has nothing of stack {stack}", markup=False)
            return
        for urn in urns:
            console.print(f"    {short(urn)}", markup=False)
        if not yes:
            console.print(f"{len(urns)} to move from stack {platform.name} to {stack}; --yes does it", markup=False)
            return
        splitting.share_passphrase(wanted, platform)
        session.prepare(wanted, running)
        # The engine moves no tags; noted before, no state with objects is ever without its cluster.
        identity.note(platform, settled, standing)
        identity.note(wanted, running, theirs)
        splitting.move(wanted, platform, running, urns)
    console.print(
        f"moved {len(urns)} from stack {platform.name} to {stack}; now `./hpc up {platform.options}`, then "
        f"`./hpc up {wanted.options}`",
        markup=False,
    )
