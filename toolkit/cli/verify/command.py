"""`./hpc verify`: whether jobs prove what they were to, by the lines of their logs."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from core.apis.nccl import Transport
from stacks.programs import Program
from stacks.settings.origins import SettingsError
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_text, print_warning
from toolkit.cli.shared.errors import Judging, explain
from toolkit.cli.shared.options import DEFAULT_STACK, JsonOption, OtherName, StackOption
from toolkit.cli.shared.stack import Stack
from toolkit.cli.verify import log_files
from toolkit.cli.verify.options import (
    OF_A_STACK,
    OF_FILES,
    AllOption,
    FabricOption,
    Files,
    MachineOption,
    MoreFiles,
    WaitOption,
    refuse,
)
from toolkit.cli.verify.stack_jobs import gather, store
from toolkit.cli.verify.verdict_tables import conclude, show
from toolkit.evidence.judge import exit_status, judge
from toolkit.evidence.records import FILE

KIND = Judging

LayoutOption = Annotated[str | None, typer.Option(help="Pods x GPUs of each, e.g. 02x08.", rich_help_panel=OF_FILES)]
TransportOption = Annotated[
    Transport | None,
    typer.Option(help="Transport between nodes; omit it for a job on one node.", rich_help_panel=OF_FILES),
]
ProgramOption = Annotated[
    str | None,
    typer.Option(
        help="Program of docs/reference/programs.md, or rdma-test; one of `programs` of the stack, or a file.",
        rich_help_panel=OF_FILES,
    ),
]
NodesOption = Annotated[
    list[str] | None, typer.Option("--node", help="Node of the job; repeatable.", rich_help_panel=OF_FILES)
]
SharpOption = Annotated[
    bool, typer.Option("--sharp", help="Expect reductions by the switches (CollNet).", rich_help_panel=OF_FILES)
]
FiguresOption = Annotated[
    bool,
    typer.Option(
        "--figures",
        help="Print the figures in the files, and judge nothing. Exit status 1 if one has output of no known tool.",
        rich_help_panel=OF_FILES,
    ),
]
JobOption = Annotated[
    list[str] | None,
    typer.Option(
        "--job",
        help="Only this job, NAME or TENANT/NAME; repeatable. Nodes are then not inspected, and no result is stored.",
        rich_help_panel=OF_A_STACK,
    ),
]


def command(
    more: MoreFiles = None,
    file: Files = None,
    *,
    stack: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    job: JobOption = None,
    wait: WaitOption = None,
    machine: MachineOption = None,
    layout: LayoutOption = None,
    transport: TransportOption = None,
    fabric: FabricOption = None,
    program: ProgramOption = None,
    node: NodesOption = None,
    sharp: SharpOption = False,
    only_figures: FiguresOption = False,
    everything: AllOption = False,
    plain: JsonOption = False,
) -> None:
    """Judge by their logs whether jobs met their expectations.

    Exit status 0: pass; 1: fail; 2: not enough evidence; 3: nothing judged, because of wrong options, a cluster that
    does not answer, or logs that cannot be read.

    Without files: all jobs of a stack, from its cluster; the result is stored for `./hpc report`. With files: one job,
    whose expectations the options give; --stack names the stack whose `programs` --program may name.
    """
    names = [*(file or ()), *(more or ())]
    expectations = {
        "machine": machine,
        "layout": layout,
        "transport": transport,
        "fabric": fabric,
        "program": program,
        "node": node or None,
        "sharp": sharp,
    }
    if names:
        refuse({"job": job, "wait": wait}, "is for the jobs of a stack, and these are files")
    else:
        refuse({**expectations, "figures": only_figures}, "is for logs in files, and none is named")
    if only_figures:
        refuse(expectations, "says what is judged, and --figures judges nothing")
        raise typer.Exit(log_files.print_figures(names, plain=plain))
    if names:
        request = log_files.request(
            names,
            machine=machine,
            layout=layout,
            transport=transport,
            fabric=fabric,
            program=program,
            nodes=node or (),
            sharp=sharp,
            own=lambda: _programs(stack, name),
        )
        raise typer.Exit(conclude([log_files.job(names, request)], plain=plain))
    raise typer.Exit(of_stack(stacks.read(stack, name), job, wait=wait, everything=everything, plain=plain))


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
            reason = explain(error) or f"{error.strerror or error}: {error.filename or stack.results / FILE}"
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
