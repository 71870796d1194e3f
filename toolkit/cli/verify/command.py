"""`./hpc verify`: whether jobs prove what they were to, by the lines of their logs."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import typer

from core.apis.nccl import Transport
from stacks.programs import Program
from stacks.settings.error import SettingsError
from toolkit.cli.shared import results
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_text, print_warning
from toolkit.cli.shared.errors import explain
from toolkit.cli.shared.exit_status import Judging
from toolkit.cli.shared.options import DEFAULT_STACK, JsonOption, OtherName, StackOption
from toolkit.cli.shared.stack import Stack
from toolkit.cli.verify import history as suite_history
from toolkit.cli.verify import log_files, modes, node_fitness
from toolkit.cli.verify.modes import Mode
from toolkit.cli.verify.stack_jobs import gather, store
from toolkit.cli.verify.verdict_tables import conclude, show
from toolkit.evidence.judge import exit_status, judge

KIND = Judging
_OF_A_JOB = "The job of log files"
_OF_NODES = "Fitness of nodes"
_OF_ROUNDS = "Rounds of a suite"

Files = Annotated[
    list[str] | None,
    typer.Option("--file", "-f", help="Log of the job; repeatable. - is standard input."),
]
MoreFiles = Annotated[list[str] | None, typer.Argument(metavar="LOG", help="Further logs, without -f.")]
ProfileOption = Annotated[
    str | None,
    typer.Option(help="Hardware profile of the nodes: a file of core/hardware/machines.", rich_help_panel=_OF_A_JOB),
]
LayoutOption = Annotated[str | None, typer.Option(help="Pods x GPUs of each, e.g. 02x08.", rich_help_panel=_OF_A_JOB)]
TransportOption = Annotated[
    Transport | None,
    typer.Option(help="Transport between nodes; omit it for a job on one node.", rich_help_panel=_OF_A_JOB),
]
FabricOption = Annotated[
    Literal["infiniband", "roce", "ethernet"] | None,
    typer.Option(help="Kind of fabric. Default: that of the profile's ports.", rich_help_panel=_OF_A_JOB),
]
ProgramOption = Annotated[
    str | None,
    typer.Option(
        help="Program, as docs/reference/programs.md lists it, or rdma-test; one of the stack's `programs`, or a file.",
        rich_help_panel=_OF_A_JOB,
    ),
]
NodesOption = Annotated[
    list[str] | None, typer.Option("--node", help="Node of the job; repeatable.", rich_help_panel=_OF_A_JOB)
]
SharpOption = Annotated[
    bool, typer.Option("--sharp", help="Expect reductions by the switches (CollNet).", rich_help_panel=_OF_A_JOB)
]
JobOption = Annotated[
    list[str] | None,
    typer.Option(
        "--job",
        help="Only this job, NAME or TENANT/NAME; repeatable. Nodes are then not inspected, and no result is stored.",
    ),
]
WaitOption = Annotated[
    float | None,
    typer.Option(min=0, help="Seconds to wait for running jobs; default 0, on a simulated cluster 30."),
]
NodesFitOption = Annotated[
    bool,
    typer.Option(
        "--nodes",
        help="Judge each node, by the program preflight and by jobs over several nodes; with files, by logs of "
        "preflight.",
        rich_help_panel=_OF_NODES,
    ),
]
CordonOption = Annotated[
    bool,
    typer.Option(
        "--cordon",
        help="With --nodes: ask, then mark unfit nodes by a label, and unmark fit ones (docs/guide/gpus.md).",
        rich_help_panel=_OF_NODES,
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="With --cordon: do not ask.", rich_help_panel=_OF_NODES)]
HistoryOption = Annotated[
    bool,
    typer.Option(
        "--history",
        help="Compare the newest round of the stack's suite with those before it (docs/guide/suite.md); -f names files "
        "of rounds, or folders with their logs.",
        rich_help_panel=_OF_ROUNDS,
    ),
]
AlertmanagerOption = Annotated[
    str | None,
    typer.Option(
        help="With --history: send the newest round's results to the Alertmanager at this URL (docs/guide/suite.md).",
        rich_help_panel=_OF_ROUNDS,
    ),
]
AllOption = Annotated[bool, typer.Option("--all", help="Also show the criteria that passed.")]


def command(
    more: MoreFiles = None,
    file: Files = None,
    *,
    stack: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    job: JobOption = None,
    wait: WaitOption = None,
    profile: ProfileOption = None,
    layout: LayoutOption = None,
    transport: TransportOption = None,
    fabric: FabricOption = None,
    program: ProgramOption = None,
    node: NodesOption = None,
    sharp: SharpOption = False,
    everything: AllOption = False,
    nodes: NodesFitOption = False,
    cordon: CordonOption = False,
    yes: YesOption = False,
    history: HistoryOption = False,
    alertmanager: AlertmanagerOption = None,
    plain: JsonOption = False,
) -> None:
    """Judge by their logs whether jobs met their expectations.

    Exit status 0: pass; 1: fail; 2: not enough evidence; 3: nothing judged, because of wrong options, a cluster that
    does not answer, or logs that cannot be read.

    Without files: all jobs of a stack, from its cluster; the result is stored for `./hpc report`. With files: one job,
    whose expectations the options give; --stack names the stack whose `programs` --program may name.
    """
    names = [*(file or ()), *(more or ())]
    mode = modes.chosen(logs=bool(names), nodes=nodes, history=history)
    modes.require_fitting(
        mode,
        {
            "profile": profile,
            "layout": layout,
            "transport": transport,
            "fabric": fabric,
            "program": program,
            "node": node or None,
            "sharp": sharp,
            "job": job,
            "wait": wait,
            "cordon": cordon,
            "yes": yes,
            "alertmanager": alertmanager,
        },
    )
    if mode in (Mode.LOGS, Mode.NODES_OF_LOGS):
        request = log_files.request(
            names,
            profile=profile,
            layout=layout,
            transport=transport,
            fabric=fabric,
            program=program,
            nodes=node or (),
            sharp=sharp,
            own=lambda: _programs(stack, name),
        )
        if mode is Mode.LOGS:
            raise typer.Exit(conclude([log_files.job(names, request)], plain=plain))
        own = [log_files.job([one], request.model_copy(update={"job": one})) for one in names]
        raise typer.Exit(node_fitness.of_logs(own, plain=plain))
    wanted = stacks.read(stack, name)
    if mode is Mode.ROUNDS:
        status = suite_history.of_stack(wanted, names, everything=everything, plain=plain, alertmanager=alertmanager)
    elif mode is Mode.NODES:
        status = node_fitness.of_stack(wanted, wait=wait, plain=plain, cordon=cordon, yes=yes)
    else:
        status = of_stack(wanted, job, wait=wait, everything=everything, plain=plain)
    raise typer.Exit(status)


def _programs(stack: str, name: str | None) -> Mapping[str, Program]:
    """Return the programs that a stack defines; none where no stack is named, and there is no default one."""
    try:
        return stacks.read(stack, name).settings.programs
    except SettingsError:
        if stack != DEFAULT_STACK:
            raise
        return {}


def of_stack(stack: Stack, only: Sequence[str] | None, *, wait: float | None, everything: bool, plain: bool) -> int:
    """Judge the jobs of a stack by what is on its cluster, store the result, and return the exit status."""
    jobs = gather(stack, only, wait=wait, silent=plain)
    verdicts = judge(jobs)
    show(jobs, verdicts, plain=plain, everything=everything or bool(only))
    if text := outdated(stack):
        print_warning(f"{text}")
    if only is None:
        try:
            file, number = store(stack, jobs, verdicts)
        except OSError as error:
            reason = explain(error) or f"{error.strerror or error}: {error.filename or results.file(stack)}"
            print_warning(f"this result could not be stored, so no report will contain it: {reason}")
        else:
            if not plain:
                print_text(f"run {number} of {file}; `./hpc report {stack.options} -o DIR` draws it")
    return exit_status(verdicts)


def outdated(stack: Stack) -> str:
    """Say that jobs may be judged by settings with which they were not made, where we can read when that was."""
    backend = stack.backend
    written = backend.written(stack.name) if backend else None
    last = max(stack.files, key=lambda file: file.stat().st_mtime)
    if written is None or last.stat().st_mtime <= written:
        return ""
    return (
        f"{last.name} was written after the last update: jobs that it changes are judged by settings they "
        f"were not created with, until `./hpc up {stack.options}`"
    )
