"""`./hpc preview`: what `./hpc up` would change."""

from typing import Annotated

import typer

from toolkit.cli.drift import repairs
from toolkit.cli.shared import cluster_checks, identity, layers, placements, session, simulated_release, state_checks
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, OtherName, PolicyOption, StackOption
from toolkit.cli.shared.policy_configuration import policy_arguments, settled

_JSON = {"--json", "-j"}


RepairOption = Annotated[bool, typer.Option("--repair", help="Show first what `./hpc up --repair` would repair.")]


def command(
    context: typer.Context,
    *,
    stack: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    config: PolicyOption = None,
    repair: RepairOption = False,
) -> None:
    """Run `pulumi preview` with the policies.

    Compares the settings with the cluster first, as `./hpc diff` and `up` do. Options that are not listed here go to
    the engine.
    """
    wanted = stacks.read(stack, name)
    wanted.require_served()
    wanted.require_passable()
    state_checks.require_own_cluster(wanted)
    layers.require_platform(wanted)
    layers.warn_of_refused(wanted)
    simulated_release.require_fitting(wanted)
    policies = settled(wanted.settings, config)
    running = session.engine(wanted)
    if identity.require_unless_unreachable(wanted, running) is not None:
        cluster_checks.require(wanted, session.cluster(wanted)).show()
    plain = _JSON.isdisjoint(context.args)  # output for a program has nothing beside the engine's
    if plain:
        session.print_plugins(running.program)
    session.prepare(wanted, running)
    if plain:
        placements.show(wanted.settings)
    if repair:
        if not plain:
            raise Problem(
                "--repair is shown as text",
                f"Leave --json out; `./hpc drift {wanted.options} --json FILE` writes JSON.",
            )
        repairs.show(repairs.proposed(wanted, running, session.cluster(wanted)), wanted.options)
    with policy_arguments(policies) as arguments:
        status = running.run_interactively("preview", "--stack", stack, *arguments, *context.args)
    raise typer.Exit(status)
