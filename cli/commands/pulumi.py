"""`./hpc pulumi ...`: plain `pulumi` in the environment of a stack."""

from dataclasses import replace

import typer

from cli import session
from cli import stack as stacks
from cli.commands.options import DEFAULT_STACK, OtherName, StackOption
from cli.environment import SETTINGS

_CONFIG = "config"


def command(context: typer.Context, stack: StackOption = DEFAULT_STACK, name: OtherName = None) -> None:
    """Run `pulumi` with the arguments that follow, in the environment of a stack (options of ours come first)."""
    wanted = stacks.read(stack, name)
    running = session.engine(wanted)
    if next((word for word in context.args if not word.startswith("-")), "") == _CONFIG:
        # What is set belongs into the settings: the copy of them, for a cluster elsewhere, is made anew every time.
        own = {**running.environment, SETTINGS: ""}
        running = replace(running, environment=own)
    else:
        wanted.copy_settings()
    raise typer.Exit(running.attended(*context.args))
