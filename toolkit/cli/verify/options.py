"""Options that `./hpc verify`, `nodes` and `suite` share."""

from collections.abc import Mapping
from typing import Annotated, Literal

import typer

from toolkit.cli.shared.errors import Problem

OF_FILES = "With files"
OF_A_STACK = "Without files"

Files = Annotated[
    list[str] | None, typer.Option("--file", "-f", help="Log of the job; repeatable. - is standard input.")
]
MoreFiles = Annotated[list[str] | None, typer.Argument(metavar="LOG", help="Further logs, without -f.")]
MachineOption = Annotated[
    str | None, typer.Option(help="Machine of the nodes: a file of core/hardware/machines.", rich_help_panel=OF_FILES)
]
WaitOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Seconds to wait for running jobs; default 0, on a simulated cluster 30.",
        rich_help_panel=OF_A_STACK,
    ),
]
FabricOption = Annotated[
    Literal["infiniband", "roce", "ethernet"] | None,
    typer.Option(help="Kind of fabric. Default: that of the machine's ports.", rich_help_panel=OF_FILES),
]
AllOption = Annotated[bool, typer.Option("--all", help="Also show the criteria that passed.")]


def refuse(options: Mapping[str, object], why: str) -> None:
    """Raise Problem for the first option that has a value, neither None nor false."""
    for option, value in options.items():
        if value is not None and value is not False:
            raise Problem(f"--{option} {why}", f"Omit --{option}.")
