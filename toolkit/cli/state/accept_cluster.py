"""`./hpc state accept-cluster`: move a stack to another cluster."""

from typing import Annotated

import typer

from toolkit.cli.shared import identity, session
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.options import OtherName, StackOption

UidArgument = Annotated[str, typer.Argument(help="UID of namespace kube-system of the new cluster.")]


def command(
    uid: UidArgument,
    *,
    stack: StackOption,
    name: OtherName = None,
) -> None:
    """Move a stack to another cluster than its state names."""
    wanted = stacks.read(stack, name)
    with session.exclusive(wanted):
        running = session.engine(wanted)
        found = identity.accept(wanted, running, session.cluster(wanted), uid)
    print_text(
        f"stack {stack} belongs to the cluster {found}\n"
        f"`./hpc pulumi refresh {wanted.options}` compares the state with that cluster."
    )
