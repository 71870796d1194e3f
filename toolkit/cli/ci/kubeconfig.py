"""`./hpc ci kubeconfig`: a kubeconfig that a CI job has in a variable, put where the stack's settings look for it."""

import os

from core.files import write_atomically
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, StackOption

VARIABLE = "HPC_KUBECONFIG"


def command(stack_name: StackOption = DEFAULT_STACK) -> None:
    """Write the kubeconfig of a CI job to its file.

    The content of the variable HPC_KUBECONFIG goes to the path `cluster.kubeconfig` of the stack's settings, which only
    its owner may read.
    """
    stack = stacks.read(stack_name)
    content = os.environ.get(VARIABLE, "")
    if stack.simulated:
        raise Problem(
            f"stack {stack_name} is on a simulated cluster, which has its own kubeconfig",
            "Set `cluster.simulated: false` with the real cluster's kubeconfig and context.",
        )
    if not content.strip():
        raise Problem(f"{VARIABLE} is not set", "Give the job the kubeconfig's content as a secret of this name.")
    if stack.kubeconfig.is_file() and stack.kubeconfig.read_text() != content:
        raise Problem(f"{stack.kubeconfig} exists with other content", f"Remove it, or unset {VARIABLE} to use it.")
    write_atomically(stack.kubeconfig, content)
    print_text(f"kubeconfig of stack {stack_name}: {stack.kubeconfig}")
