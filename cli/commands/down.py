"""`./hpc down`: take a stack off its cluster."""

import typer

from cli import identity, layers, session, state
from cli import stack as stacks
from cli.commands.options import DEFAULT_STACK, OtherName, StackOption
from cli.console import console, errors
from cli.errors import Problem


def command(stack: StackOption = DEFAULT_STACK, name: OtherName = None) -> None:
    """Destroy everything of a stack on a simulated cluster; the cluster itself goes on running."""
    wanted = stacks.read(stack, name)
    if not wanted.simulated:
        raise Problem(
            f"stack {stack} is on a real cluster",
            f"If you mean it: `./hpc pulumi destroy --stack {stack}`, which asks.",
        )
    with session.alone(wanted):
        layers.require_no_tenants(wanted)
        state.require_unprotected(wanted)
        running = session.engine(wanted)
        identity.require(wanted, session.cluster(wanted), wanted.backend, running)
        session.prepare(wanted, running)
        state.settle(wanted, running, session.cluster(wanted))
        status, account = running.watched(f"pulumi destroy, stack {stack}", wanted.log, "destroy", "--yes")
    for message in account.messages:
        if status != 0 and message.severity == "error":
            errors.print(message.text, markup=False)
    if status == 0:
        console.print(f"stack {stack} is off the cluster", markup=False)
    raise typer.Exit(status)
