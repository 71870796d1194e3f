"""`./hpc hardware discover`: a machine file from a node of a cluster."""

from pathlib import Path
from typing import Annotated

import typer
import yaml

from toolkit.cli.hardware.from_logs import readings_of, require_new, write
from toolkit.cli.hardware.node_outputs import Options, cluster_of, collect, job_of, node_of, with_options
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_notice
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import OtherName, file_option, write_text

StackChoice = Annotated[str | None, typer.Option("--stack", "-s", help="Stack whose cluster has the node.")]
KubeconfigOption = Annotated[Path | None, typer.Option(help="Kubeconfig of the cluster, in place of a stack.")]
ContextOption = Annotated[str | None, typer.Option(help="Context in it; needed unless it has only one.")]
NodeOption = Annotated[str, typer.Option(help="Node of the cluster.")]
OutputOption = Annotated[Path | None, file_option("Machine file to write")]
LogOption = Annotated[Path | None, typer.Option("--log", help="File for the tools' output.")]
ManifestOption = Annotated[
    bool, typer.Option("--manifest", help="Print the Job, and create nothing: for a user who may not create Jobs.")
]


@with_options
def command(
    *,
    node: NodeOption,
    output: OutputOption = None,
    stack_name: StackChoice = None,
    name: OtherName = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
    options: Options,
    log: LogOption = None,
    manifest: ManifestOption = False,
) -> None:
    """Write a machine file from a node of a cluster.

    Creates a Job on the node, whose pod prints what nvidia-smi, lscpu, numactl, lspci, ibstat and others show, without
    privileges; reads its log, and removes it, also after Ctrl-C. --manifest prints the Job for users who prefer to
    create it themselves and pass its log to from-logs.

    What the pod cannot see is reported, and is missing from the file.
    """
    stack = stacks.read(stack_name, name) if stack_name is not None else None
    cluster = cluster_of(stack, kubeconfig, context)
    if manifest:
        text = yaml.safe_dump(job_of(node_of(cluster, node), options, stack), sort_keys=False)
        print(text, end="")  # noqa: T201 - for a program
        return
    if output is None:
        raise Problem("there is no file to write", "Name it: -o machines/NAME.yaml.")
    require_new(output)
    outputs = collect(cluster, node, options, stack)
    if log is not None:
        write_text(log, outputs.printed)
    for unseen_command in outputs.unseen:
        print_notice(f"not seen: {unseen_command.command}: {unseen_command.reason}")
    write(readings_of(node, outputs.labels, outputs.printed), "discover", output)
