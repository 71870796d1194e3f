"""`./hpc kubeconfig`: a kubeconfig that a CI job has in a variable, put where the stack's settings look for it."""

import os

from cli import stack as stacks
from cli.commands.options import DEFAULT_STACK, StackOption
from cli.console import console
from cli.errors import Problem
from simulator.files import write_atomically

VARIABLE = "HPC_KUBECONFIG"


def command(stack: StackOption = DEFAULT_STACK) -> None:
    """Write the content of HPC_KUBECONFIG to the path `cluster.kubeconfig` of a stack, for its owner alone."""
    wanted = stacks.read(stack)
    content = os.environ.get(VARIABLE, "")
    if wanted.simulated:
        raise Problem(
            f"stack {stack} is on a simulated cluster, which has its own kubeconfig",
            "Set `cluster.simulated: false` with the real cluster's kubeconfig and context.",
        )
    if not content.strip():
        raise Problem(f"{VARIABLE} is not set", "Give the job the kubeconfig's content as a secret of this name.")
    if wanted.kubeconfig.is_file() and wanted.kubeconfig.read_text() != content:
        raise Problem(
            f"{wanted.kubeconfig} is there and another one", f"Remove it, or do without {VARIABLE}: it is in use then."
        )
    write_atomically(wanted.kubeconfig, content)
    console.print(f"kubeconfig of stack {stack}: {wanted.kubeconfig}", markup=False)
