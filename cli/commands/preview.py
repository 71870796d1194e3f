"""`./hpc preview`: what `./hpc up` would change."""

import typer

from cli import generations, placements, session, state
from cli import stack as stacks
from cli.commands.options import DEFAULT_STACK, OtherName, PolicyOption, StackOption
from cli.commands.up import policy_arguments
from cli.console import errors
from cli.errors import Problem
from cli.policy_configuration import settled
from cli.stack import Stack

_JSON = {"--json", "-j"}


def command(
    context: typer.Context, stack: StackOption = DEFAULT_STACK, name: OtherName = None, config: PolicyOption = None
) -> None:
    """Show what an update would change, with the policies, in the engine's own words (and with its own options)."""
    wanted = stacks.read(stack, name)
    wanted.require_served()
    state.require_own_cluster(wanted)
    generations.fitting(wanted)
    policies = settled(wanted.settings, config)
    _look(wanted)
    running = session.engine(wanted)
    plain = _JSON.isdisjoint(context.args)  # what is to be read by a program holds nothing of ours
    if plain:
        session.say_plugins(running.program)
    session.prepare(wanted, running)
    if plain:
        placements.show(wanted.settings)
    with policy_arguments(policies) as arguments:
        status = running.attended("preview", "--stack", stack, *arguments, *context.args)
    raise typer.Exit(status)


def _look(wanted: Stack) -> None:
    """Ask a simulated cluster for an answer; a real one that does not answer is the engine's to warn of, and go on."""
    try:
        session.cluster(wanted).check()
    except Problem as problem:
        if wanted.simulated:
            raise
        errors.print(f"warning: {problem}\nThe preview goes on with what the state says.", markup=False)
