"""`./hpc preview`: what `./hpc up` would change."""

import typer

from cli import generations, identity, layers, placements, session, state
from cli import stack as stacks
from cli.commands.options import DEFAULT_STACK, OtherName, PolicyOption, StackOption
from cli.policy_configuration import policy_arguments, settled

_JSON = {"--json", "-j"}


def command(
    context: typer.Context, stack: StackOption = DEFAULT_STACK, name: OtherName = None, config: PolicyOption = None
) -> None:
    """Show what an update would change, with the policies, in the engine's own words (and with its own options)."""
    wanted = stacks.read(stack, name)
    wanted.require_served()
    wanted.require_passable()
    state.require_own_cluster(wanted)
    layers.require_platform(wanted)
    layers.tell_refused(wanted)
    generations.require_fitting(wanted)
    policies = settled(wanted.settings, config)
    running = session.engine(wanted)
    identity.look(wanted, running)
    plain = _JSON.isdisjoint(context.args)  # what is to be read by a program holds nothing of ours
    if plain:
        session.say_plugins(running.program)
    session.prepare(wanted, running)
    if plain:
        placements.show(wanted.settings)
    with policy_arguments(policies) as arguments:
        status = running.attended("preview", "--stack", stack, *arguments, *context.args)
    raise typer.Exit(status)
