"""`./hpc settings`: the settings of a stack as if they were in one file."""

from typing import Annotated

import typer

from stacks.loading import settings
from stacks.loading.bases import SETTING
from toolkit.cli.settings import document
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, StackOption
from toolkit.cli.shared.paths import ROOT

OriginOption = Annotated[
    bool, typer.Option("--origin", help="Show in a comment where each value is from, as file:line.")
]


def command(stack: StackOption = DEFAULT_STACK, *, origin: OriginOption = False) -> None:
    """Print a stack's settings with those of its bases.

    The output is YAML, in the format of a stack's file. Nothing is checked; for tenants, the platform's settings are
    not included.
    """
    file, resolved = settings.file(stack, ROOT), settings.whole(stack, ROOT)
    if resolved.data is None:
        raise Problem(f"{file.name} has no {SETTING}", "Write the settings there; Pulumi.dev.yaml is an example.")
    print(document.write(resolved, file, ROOT, origins=origin), end="")  # noqa: T201 - for a file
