"""`./hpc preview`: what `./hpc up` would change."""

import typer

from cli import session
from cli import stack as stacks
from cli.commands.options import DEFAULT_STACK, OtherName, StackOption
from cli.commands.up import policy_arguments


def command(context: typer.Context, stack: StackOption = DEFAULT_STACK, name: OtherName = None) -> None:
    """Show what an update would change, with the policies, in the engine's own words (and with its own options)."""
    wanted = stacks.read(stack, name)
    running = session.engine(wanted)
    session.say_plugins(running.program)
    session.cluster(wanted).check()
    session.prepare(wanted, running)
    with policy_arguments(wanted) as policies:
        status = running.attended("preview", "--stack", stack, *policies, *context.args)
    raise typer.Exit(status)
