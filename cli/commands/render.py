"""`./hpc render`: the manifests that would be applied, without an engine or a cluster."""

from cli.commands.options import DEFAULT_STACK, FolderOption, StackOption
from cli.console import console
from rendering import manifests


def command(output: FolderOption, stack: StackOption = DEFAULT_STACK) -> None:
    """Write the manifests of a stack, one file an object, secrets left out."""
    written = manifests.write(manifests.registrations(stack), output)
    console.print(f"{len(written)} manifests of stack {stack} in {output}", markup=False)
