"""`./hpc env`: the environment in which plain `pulumi` and `kubectl` work on a stack."""

import os
import shlex

from cli import environment
from cli import stack as stacks
from cli.commands.options import DEFAULT_STACK, OtherName, StackOption
from cli.console import Reporter, errors
from simulator import tools


def command(stack: StackOption = DEFAULT_STACK, name: OtherName = None) -> None:
    """Print exports for the shell: eval "$(./hpc env)"."""
    wanted = stacks.read(stack, name)
    if wanted.simulated and not wanted.kubeconfig.is_file():
        errors.print(f"there is no simulated cluster {wanted.cluster_name} yet: `./hpc up` makes it", markup=False)
    wanted.copy_settings()
    if wanted.moved:
        errors.print(
            f"pulumi is to read {wanted.copy}, a copy of {wanted.file.name} that names cluster {wanted.cluster_name} "
            f"({environment.SETTINGS}).\nChange {wanted.file.name} itself: each ./hpc command makes the copy anew.",
            markup=False,
        )
    pulumi = tools.find("pulumi", progress=Reporter())
    for key, value in environment.variables(wanted, pulumi, os.environ).items():
        print(f"export {key}={shlex.quote(value)}")  # noqa: T201 - for a shell, not for a person
