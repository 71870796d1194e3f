"""`./hpc suite`: the newest round of a stack's suite against those before it."""

from typing import Annotated

import typer

from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.errors import Judging
from toolkit.cli.shared.options import DEFAULT_STACK, JsonOption, OtherName, StackOption
from toolkit.cli.suite import history
from toolkit.cli.verify.options import AllOption

KIND = Judging

Files = Annotated[
    list[str] | None,
    typer.Option("--file", "-f", help="File of rounds, or folder with their logs, instead of the cluster; repeatable."),
]
MoreFiles = Annotated[list[str] | None, typer.Argument(metavar="FILE", help="Further ones, without -f.")]
AlertmanagerOption = Annotated[
    str | None,
    typer.Option(help="Send the newest round's results to the Alertmanager at this URL (docs/guide/suite.md)."),
]


def command(
    more: MoreFiles = None,
    file: Files = None,
    *,
    stack_name: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    alertmanager: AlertmanagerOption = None,
    everything: AllOption = False,
    plain: JsonOption = False,
) -> None:
    """Compare the newest round of a suite with earlier ones.

    Exit status 0: pass; 1: fail, or slower than before; 2: not enough evidence; 3: nothing judged.

    Without files, rounds that have ended on the cluster are read and stored, and compared by their medians.
    """
    names = [*(file or ()), *(more or ())]
    stack = stacks.read(stack_name, name)
    status = history.of_stack(stack, names, everything=everything, plain=plain, alertmanager=alertmanager)
    raise typer.Exit(status)
