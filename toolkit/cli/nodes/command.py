"""`./hpc nodes`: which nodes are fit for jobs."""

from typing import Annotated

import typer

from toolkit.cli.nodes import node_fitness
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.errors import Judging, Problem
from toolkit.cli.shared.options import DEFAULT_STACK, JsonOption, OtherName, StackOption
from toolkit.cli.verify import log_files
from toolkit.cli.verify.options import (
    OF_A_STACK,
    OF_FILES,
    FabricOption,
    Files,
    MachineOption,
    MoreFiles,
    WaitOption,
    refuse,
)

KIND = Judging

CordonOption = Annotated[
    bool,
    typer.Option(
        "--cordon",
        help="Ask, then mark unfit nodes by a label, and unmark fit ones (docs/guide/gpus.md).",
        rich_help_panel=OF_A_STACK,
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="With --cordon: do not ask.", rich_help_panel=OF_A_STACK)]
GpusOption = Annotated[
    int | None,
    typer.Option(min=1, help="GPUs of the test's pod. Default: all of the machine.", rich_help_panel=OF_FILES),
]


def command(
    more: MoreFiles = None,
    file: Files = None,
    *,
    stack: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    wait: WaitOption = None,
    cordon: CordonOption = False,
    yes: YesOption = False,
    machine: MachineOption = None,
    fabric: FabricOption = None,
    gpus: GpusOption = None,
    plain: JsonOption = False,
) -> None:
    """Judge which nodes are fit for jobs.

    Exit status 0: all are fit; 1: one is unfit; 2: not enough evidence; 3: nothing judged.

    Without files: the GPU nodes of a stack, by the program preflight and by jobs over several nodes, from its cluster.
    With files: the nodes of which these are logs of preflight.
    """
    if yes and not cordon:
        raise Problem("--yes answers --cordon", "Add --cordon, or omit --yes.")
    if names := [*(file or ()), *(more or ())]:
        refuse({"cordon": cordon, "wait": wait}, "is for the nodes of a stack, and these are files")
        layout = f"1x{gpus}" if gpus else None
        request = log_files.request(names, machine=machine, fabric=fabric, layout=layout)
        own = [log_files.job([file], request.model_copy(update={"job": file})) for file in names]
        raise typer.Exit(node_fitness.of_logs(own, plain=plain))
    refuse({"machine": machine, "fabric": fabric, "gpus": gpus}, "is for logs in files, and none is named")
    raise typer.Exit(node_fitness.of_stack(stacks.read(stack, name), wait=wait, plain=plain, cordon=cordon, yes=yes))
