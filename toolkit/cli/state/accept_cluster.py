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
    stack_name: StackOption,
    name: OtherName = None,
) -> None:
    """Move a stack to another cluster than its state names."""
    stack = stacks.read(stack_name, name)
    with session.exclusive(stack):
        running = session.engine(stack)
        cluster_identity = identity.accept(stack, running, session.cluster(stack), uid)
    print_text(
        f"stack {stack_name} belongs to the cluster {cluster_identity}\n"
        f"`./hpc pulumi refresh {stack.options}` compares the state with that cluster."
    )
