"""`./hpc render`: the manifests that would be applied, without an engine or a cluster."""

from cli.shared.console import print_text
from cli.shared.options import DEFAULT_STACK, FolderOption, StackOption
from rendering import manifests


def command(output: FolderOption, stack: StackOption = DEFAULT_STACK) -> None:
    """Write the manifests of a stack, without its secrets."""
    written = manifests.write(manifests.registrations(stack), output)
    print_text(f"{len(written)} manifests of stack {stack} in {output}")
