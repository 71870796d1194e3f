"""`./hpc pulumi preview`: the engine's preview with the policies, after the settings were compared with the cluster."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from toolkit.cli.pulumi import engine_options
from toolkit.cli.shared import identity, session, stack_checks
from toolkit.cli.shared.policy_configuration import policy_arguments, settled
from toolkit.cli.shared.preflight import update_checks
from toolkit.cli.shared.stack import Stack

NAMES = {"preview", "pre"}
_JSON = {"--json", "-j"}
_PACK = "--policy-pack"


def run(stack: Stack, arguments: Sequence[str]) -> int:
    """Run the engine's preview, and return its exit status; a policy pack among the arguments replaces the policies."""
    stack.require_served()
    stack.require_passable()
    stack_checks.require_own_cluster(stack)
    stack_checks.require_platform(stack)
    stack_checks.warn_of_refused(stack)
    stack_checks.require_fitting(stack)
    checked = policies(stack, arguments)
    running = session.engine(stack)
    engine_options.require_same(stack, running.environment, arguments, Path.cwd())
    if identity.require_unless_unreachable(stack, running) is not None:
        update_checks.require(stack, session.cluster(stack)).show()
    plain = _JSON.isdisjoint(arguments)  # output for a program has nothing beside the engine's
    if plain:
        session.print_plugins(stack, running.program)
    else:
        session.require_provider(stack, running.program)
    session.prepare(stack, running)
    if plain:
        update_checks.show_placements(stack.settings)
    with checked as own:
        return running.run_interactively(*arguments, *own)


def policies(stack: Stack, arguments: Sequence[str]) -> AbstractContextManager[Sequence[str]]:
    """Return the engine's options for the policies of a stack; none where the arguments name a policy pack."""
    if any(argument.partition("=")[0] == _PACK for argument in arguments):
        return nullcontext(())
    return policy_arguments(settled(stack.settings, None))
