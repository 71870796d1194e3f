"""`./hpc pulumi ...`: plain `pulumi` in the environment of a stack."""

from dataclasses import replace

import typer

from cli import passphrases, session
from cli import stack as stacks
from cli.commands.options import DEFAULT_STACK, OtherName, StackOption
from cli.environment import SETTINGS
from cli.errors import Problem

_CONFIG = "config"


def command(context: typer.Context, stack: StackOption = DEFAULT_STACK, name: OtherName = None) -> None:
    """Run `pulumi` with the arguments that follow, in the environment of a stack (options of ours come first)."""
    wanted = stacks.read(stack, name)
    running = session.engine(wanted)
    words = [word for word in context.args if not word.startswith("-")]
    configures = words[:1] == [_CONFIG]
    if configures and not wanted.keeps_secrets:
        # What is set belongs into the settings: the copy of them, for a cluster elsewhere, follows the file.
        own = {**running.environment, SETTINGS: ""}
        running = replace(running, environment=own)
    else:
        if configures and words[1:2] == ["set"] and not any(word.startswith("--secret") for word in context.args):
            raise Problem(
                f"{wanted.copy} takes secrets only, and follows {wanted.file} in all else",
                f"Write what is no secret into {wanted.file.name}, or set a secret with --secret.",
            )
        wanted.renew_copy()
        if wanted.keeps_secrets:  # of another stack's the engine asks for what it needs
            passphrases.make(wanted, running.environment)
            passphrases.require(wanted, running.environment)
    raise typer.Exit(running.attended(*context.args))
