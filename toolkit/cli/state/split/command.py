"""`./hpc state split`: from one stack to a platform and its tenants, without a change on the cluster."""

from typing import Annotated

import typer

from toolkit.cli.shared import identity, session, stack_checks
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.options import OtherName
from toolkit.cli.state.split import moves
from toolkit.review.sentences import short_title

TenantsOption = Annotated[str, typer.Option("--stack", "-s", help="Stack of tenants, whose file names the platform.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Move; without it, only show what would be moved.")]


def command(stack_name: TenantsOption, name: OtherName = None, *, yes: YesOption = False) -> None:
    """Move tenants from one stack into their own.

    What the tenants' stack declares moves out of the state of its platform, which was one stack of all layers before.
    Nothing is created, changed or deleted on the cluster. docs/guide/several-stacks.md has the steps before and after.
    """
    stack = stacks.read(stack_name, name)
    platform = moves.platform_of(stack)
    with session.exclusive(stack):
        stack_checks.require_platform(stack)
        running = session.engine(stack)
        settled = session.engine(platform)
        cluster = session.cluster(platform)
        match = identity.require(platform, cluster, platform.backend, settled)
        theirs = identity.require(stack, cluster, stack.backend, running)
        urns = moves.to_move(stack, platform, settled)
        if not urns:
            print_text(f"the state of stack {platform.name} has nothing of stack {stack_name}")
            return
        for urn in urns:
            print_text(f"    {short_title(urn)}")
        if not yes:
            print_text(f"{len(urns)} to move from stack {platform.name} to {stack_name}; --yes does it")
            return
        moves.share_passphrase(stack, platform)
        session.prepare(stack, running)
        # The engine moves no tags; noted before, no state with objects is ever without its cluster.
        identity.record(platform, settled, match)
        identity.record(stack, running, theirs)
        kept = [moves.back_up(side, engine) for side, engine in ((platform, settled), (stack, running))]
        moves.move(stack, platform, running, urns)
    print_text(f"the states before are in {' and '.join(map(str, kept))}")
    print_text(
        f"moved {len(urns)} from stack {platform.name} to {stack_name}; now `./hpc up {platform.options}`, then "
        f"`./hpc up {stack.options}`"
    )
