"""Options that several sub-commands share."""

from pathlib import Path
from typing import Annotated

import typer

from toolkit.cli.shared.output import path_option

StackOption = Annotated[
    str, typer.Option("--stack", "-s", help="Stack: NAME of a file Pulumi.NAME.yaml or stacks/examples/NAME.yaml.")
]
AnyStack = Annotated[str | None, typer.Option("--stack", "-s", help="The simulated cluster of this stack.")]
OtherName = Annotated[
    str | None,
    typer.Option("--name", "-n", help="Simulated cluster to use instead of the one in the stack's settings."),
]
PolicyOption = Annotated[
    Path | None,
    typer.Option("--config", help="JSON: levels and parameters of policies; they override those of the settings."),
]
BackendOption = Annotated[
    str | None,
    typer.Option(
        "--backend",
        metavar="s3|URL",
        help="Backend of a new simulated cluster: s3 (a simulated object store), s3://BUCKET?... or file:///FOLDER. "
        "Default: a folder of the cluster.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
FolderOption = Annotated[Path, path_option("Folder for the files")]

DEFAULT_STACK = "dev"
DEFAULT_NAME = "default"
