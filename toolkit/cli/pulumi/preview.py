"""`./hpc pulumi preview`: the engine's preview with the policies, after the settings were compared with the cluster."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from toolkit.cli.pulumi import engine_options
from toolkit.cli.shared import cluster_checks, identity, layers, placements, session, state_checks
from toolkit.cli.shared.policy_configuration import policy_arguments, settled
from toolkit.cli.shared.stack import Stack

NAMES = {"preview", "pre"}
_JSON = {"--json", "-j"}
_PACK = "--policy-pack"


def run(wanted: Stack, arguments: Sequence[str]) -> int:
    """Run the engine's preview, and return its exit status; a policy pack among the arguments replaces the policies."""
    wanted.require_served()
    wanted.require_passable()
    state_checks.require_own_cluster(wanted)
    layers.require_platform(wanted)
    layers.warn_of_refused(wanted)
    state_checks.require_fitting(wanted)
    has_pack = any(argument.partition("=")[0] == _PACK for argument in arguments)
    policies = nullcontext(()) if has_pack else policy_arguments(settled(wanted.settings, None))
    running = session.engine(wanted)
    engine_options.require_same(wanted, running.environment, arguments, Path.cwd())
    if identity.require_unless_unreachable(wanted, running) is not None:
        cluster_checks.require(wanted, session.cluster(wanted)).show()
    plain = _JSON.isdisjoint(arguments)  # output for a program has nothing beside the engine's
    if plain:
        session.print_plugins(wanted, running.program)
    else:
        session.require_provider(wanted, running.program)
    session.prepare(wanted, running)
    if plain:
        placements.show(wanted.settings)
    with policies as own:
        return running.run_interactively(*arguments, *own)
