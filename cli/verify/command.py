"""`./hpc verify`: whether jobs prove what they were to, by the lines of their logs."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from apis.nccl import Transport
from cli.shared import results
from cli.shared import stack as stacks
from cli.shared.console import print_text, print_warning
from cli.shared.errors import Problem, explain
from cli.shared.exit_status import Judging
from cli.shared.options import DEFAULT_STACK, JsonOption, OtherName, StackOption
from cli.shared.stack import Stack
from cli.verify import history as suite_history
from cli.verify import node_fitness
from cli.verify.stack_jobs import gather, store
from cli.verify.verdict_tables import conclude, show
from evidence import metrics
from evidence.judge import exit_status, judge
from evidence.model import Reading
from evidence.verdict import RDMA_TEST, Ended, Fabric, Job, Request, Shape
from hardware.data_files import DataFileError
from hardware.profiles import PROFILES, Profile
from stacks.programs import PROGRAMS, Program, read_program

KIND = Judging
_LAYOUT = re.compile(r"(\d{1,3})x(\d{1,2})(?:x\d{1,3})?")

Files = Annotated[
    list[str] | None,
    typer.Option("--file", "-f", help="Log of the job; repeatable. - is standard input."),
]
MoreFiles = Annotated[list[str] | None, typer.Argument(metavar="LOG", help="Further logs, without -f.")]
ProfileOption = Annotated[str | None, typer.Option(help="Hardware profile of the nodes: a file of hardware/machines.")]
LayoutOption = Annotated[str | None, typer.Option(help="Pods x GPUs of each, e.g. 02x08.")]
TransportOption = Annotated[Transport | None, typer.Option(help="Transport between nodes; none for a job on one node.")]
FabricOption = Annotated[
    Literal["infiniband", "roce", "ethernet"] | None, typer.Option(help="Default: that of the profile's ports.")
]
ProgramOption = Annotated[str | None, typer.Option(help="As docs/programs.md lists it, or rdma-test.")]
NodesOption = Annotated[list[str] | None, typer.Option("--node", help="Node of the job; repeatable.")]
SharpOption = Annotated[bool, typer.Option("--sharp", help="Expect reductions by the switches (CollNet).")]
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
        help="A verdict for each node, by the program preflight and by jobs over several nodes; with files, logs of "
        "preflight.",
    ),
]
CordonOption = Annotated[
    bool,
    typer.Option(
        "--cordon", help="With --nodes: ask, then mark unfit nodes by a label, and unmark fit ones (docs/gpus.md)."
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="With --cordon: do not ask.")]
HistoryOption = Annotated[
    bool,
    typer.Option(
        "--history",
        help="The rounds of the stack's suite: the newest against those before it (docs/suite.md); -f names files of "
        "rounds, or folders with their logs.",
    ),
]
AlertmanagerOption = Annotated[
    str | None,
    typer.Option(help="With --history: send what the newest round shows to this Alertmanager, a URL (docs/suite.md)."),
]
AllOption = Annotated[bool, typer.Option("--all", help="Show also the criteria that passed.")]


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
    whose expectations the options give.
    """
    names = [*(file or ()), *(more or ())]
    if (cordon or yes) and (not nodes or names or (yes and not cordon)):
        raise Problem(f"--{'cordon' if cordon else 'yes'} is for --nodes of a stack", "Add --nodes, without files.")
    expectations = {"profile": profile, "layout": layout, "transport": transport, "fabric": fabric, "program": program}
    other = {"node": node or None, "sharp": sharp or None}
    if history:
        given = {**expectations, **other, "job": job, "wait": wait, "nodes": nodes or None}
        for option in [option for option, value in given.items() if value is not None]:
            raise Problem(f"--{option} and --history exclude each other", "Leave one of them out.")
        wanted = stacks.read(stack, name)
        raise typer.Exit(
            suite_history.of_stack(wanted, names, everything=everything, plain=plain, alertmanager=alertmanager)
        )
    if alertmanager:
        raise Problem("--alertmanager is for --history", "Add --history.")
    if not names:
        for option in [option for option, value in {**expectations, **other}.items() if value is not None]:
            raise Problem(f"--{option} is for log files; a stack has it in its settings", "Name logs, or omit it.")
        if nodes:
            if job is not None:
                raise Problem("--job and --nodes exclude each other", "Leave one of them out.")
            wanted = stacks.read(stack, name)
            raise typer.Exit(node_fitness.of_stack(wanted, wait=wait, plain=plain, cordon=cordon, yes=yes))
        raise typer.Exit(of_stack(stacks.read(stack, name), job, wait=wait, everything=everything, plain=plain))
    if job is not None or wait is not None:
        raise Problem(f"--{'job' if job else 'wait'} is for the jobs of a stack", "Leave it out, or the files.")
    machine, known = _profile(profile), _program(program)
    request = Request(
        job=names[0] if len(names) == 1 else f"{len(names)} logs",
        program=_name(program),
        prints=known.prints if known else (),
        metrics=known.metrics if known else (),
        profile=profile,
        fabric=fabric or default_fabric(machine, transport),
        shape=shape(layout),
        nodes=tuple(node or ()),
        transport=transport,
        sharp=sharp,
    )
    if nodes:
        own = (of_files([one], request.model_copy(update={"job": one})) for one in names)
        raise typer.Exit(node_fitness.of_logs(list(own), plain=plain))
    raise typer.Exit(conclude([of_files(names, request)], plain=plain))


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


def of_files(names: list[str], request: Request) -> Job:
    """Return a job of which someone has the logs. Raises Problem for a file that cannot be read."""
    readings: list[Reading] = []
    for name in names:
        try:
            readings += metrics.read_log(Path(name), request.metrics)
        except OSError as error:
            raise Problem(f"{name}: {error.strerror or error}", "Name logs that can be read.") from None
    return Job(request=request, ended=Ended.UNKNOWN, readings=tuple(readings))


def shape(layout: str | None) -> Shape | None:
    """Return the shape that a layout such as 02x08 means, or 16x01x02 with the nodes. Raises Problem for another."""
    if layout is None:
        return None
    found = _LAYOUT.fullmatch(layout)
    if found is None or not int(found[1]) or not int(found[2]):
        raise Problem(f"--layout {layout!r} is no layout", "Write pods x GPUs of each, e.g. 02x08.")
    return Shape(pods=int(found[1]), gpus=int(found[2]))


def default_fabric(machine: Profile | None, transport: Transport | None) -> Fabric | None:
    """Return the fabric that a machine's ports make; RDMA over Ethernet is RoCE."""
    if machine is None:
        return None
    if machine.link_layer == "InfiniBand":
        return "infiniband"
    return "roce" if transport is not None and transport.uses_rdma else "ethernet"


def _profile(name: str | None) -> Profile | None:
    if name is not None and name not in PROFILES:
        raise Problem(f"--profile {name!r} is not known", f"Known: {', '.join(sorted(PROFILES))}.")
    return PROFILES.get(name or "")


def _program(name: str | None) -> Program | None:
    """Return the program of a name or file; None: none is named, or the RDMA test, which has no file."""
    if name in (None, RDMA_TEST):
        return None
    if name in PROGRAMS:
        return PROGRAMS[name]
    if Path(name).suffix not in (".yaml", ".yml"):
        known = ", ".join(sorted({*PROGRAMS, RDMA_TEST}))
        raise Problem(f"--program {name!r} is not known", f"Known: {known}. Of your own name the file.")
    try:
        return read_program(Path(name))
    except DataFileError as error:
        raise Problem(str(error)) from None


def _name(program: str | None) -> str | None:
    return Path(program).stem if program else None
