"""`./hpc destroy`: take a stack off its cluster."""

import typer

from toolkit.cli.shared import identity, session, stack_checks
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.checkpoints import interrupted
from toolkit.cli.shared.console import print_notice, print_text
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, OtherName, StackOption


def command(stack_name: StackOption = DEFAULT_STACK, name: OtherName = None) -> None:
    """Delete a stack from its simulated cluster.

    The cluster itself keeps running; `./hpc sim down` stops it.
    """
    stack = stacks.read(stack_name, name)
    if not stack.simulated:
        raise Problem(
            f"stack {stack_name} is on a real cluster",
            f"If you mean it: `./hpc pulumi --stack {stack_name} destroy`, which asks.",
        )
    with session.exclusive(stack):
        stack_checks.require_no_tenants(stack)
        stack_checks.require_unprotected(stack)
        running = session.engine(stack)
        identity.require(stack, session.cluster(stack), stack.backend, running)
        session.prepare(stack, running)
        interrupted.settle(stack, running, session.cluster(stack))
        status, account = running.run_update(f"pulumi destroy, stack {stack_name}", stack.log, "destroy", "--yes")
    for message in account.messages:
        if status != 0 and message.severity == "error":
            print_notice(message.text)
    if status == 0:
        print_text(f"stack {stack_name} is off the cluster")
    raise typer.Exit(status)
