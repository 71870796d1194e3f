"""`./hpc state repair`: repair the state after an interrupted update."""

from toolkit.cli.shared import identity, session
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.checkpoints import interrupted
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.options import OtherName, StackOption
from toolkit.cli.state import selection


def command(*, stack_name: StackOption, name: OtherName = None) -> None:
    """Repair the state after an interrupted update.

    Removes locks of dead processes, and adds to the state what the update created and could not record.
    """
    stack = stacks.read(stack_name, name)
    with session.exclusive(stack):
        running = session.engine(stack)
        backend = selection.readable(stack, stack.backend)
        live = session.cluster(stack)
        identity.require(stack, live, backend, running)
        session.prepare(stack, running)
        if not interrupted.repair(stack.name, backend, running, live.find, interrupted.backup_of(stack), thorough=True):
            print_text("nothing was interrupted")
