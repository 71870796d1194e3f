"""`./hpc state repair`: repair the state after an interrupted update."""

from toolkit.cli.shared import identity, session
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.checkpoints import state_repair
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.options import OtherName, StackOption
from toolkit.cli.state import selection


def command(*, stack: StackOption, name: OtherName = None) -> None:
    """Repair the state after an interrupted update.

    Removes locks of dead processes, and adds to the state what the update created and could not record.
    """
    wanted = stacks.read(stack, name)
    with session.exclusive(wanted):
        running = session.engine(wanted)
        there = selection.known(wanted, wanted.backend)
        live = session.cluster(wanted)
        identity.require(wanted, live, there, running)
        session.prepare(wanted, running)
        if not state_repair.repair(
            wanted.name, there, running, live.find, state_repair.backup_of(wanted), thorough=True
        ):
            print_text("nothing was interrupted")
