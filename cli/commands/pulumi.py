"""`./hpc pulumi ...`: plain `pulumi` in the environment of a stack."""

import typer

from cli import session
from cli import stack as stacks
from cli.commands.options import DEFAULT_STACK, OtherName, StackOption


def command(context: typer.Context, stack: StackOption = DEFAULT_STACK, name: OtherName = None) -> None:
    """Run `pulumi` with the arguments that follow, in the environment of a stack (options of ours come first)."""
    wanted = stacks.read(stack, name)
    raise typer.Exit(session.engine(wanted).attended(*context.args))
