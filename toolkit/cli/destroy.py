"""`./hpc destroy`: take a stack off its cluster."""

import typer

from toolkit.cli.shared import identity, layers, session, state_checks
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.checkpoints import state_repair
from toolkit.cli.shared.console import print_notice, print_text
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, OtherName, StackOption


def command(stack: StackOption = DEFAULT_STACK, name: OtherName = None) -> None:
    """Delete a stack from its simulated cluster.

    The cluster itself keeps running; `./hpc sim down` stops it.
    """
    wanted = stacks.read(stack, name)
    if not wanted.simulated:
        raise Problem(
            f"stack {stack} is on a real cluster",
            f"If you mean it: `./hpc pulumi --stack {stack} destroy`, which asks.",
        )
    with session.exclusive(wanted):
        layers.require_no_tenants(wanted)
        state_checks.require_unprotected(wanted)
        running = session.engine(wanted)
        identity.require(wanted, session.cluster(wanted), wanted.backend, running)
        session.prepare(wanted, running)
        state_repair.settle(wanted, running, session.cluster(wanted))
        status, account = running.run_update(f"pulumi destroy, stack {stack}", wanted.log, "destroy", "--yes")
    for message in account.messages:
        if status != 0 and message.severity == "error":
            print_notice(message.text)
    if status == 0:
        print_text(f"stack {stack} is off the cluster")
    raise typer.Exit(status)
