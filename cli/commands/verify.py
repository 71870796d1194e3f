"""`./hpc verify`: whether jobs prove what they were to, by the lines of their logs."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from apis.nccl import Transport
from cli import results
from cli import stack as stacks
from cli.commands.options import DEFAULT_STACK, OtherName, StackOption
from cli.console import console, errors
from cli.errors import Problem, explain
from cli.judging import Judging
from cli.proving.conclude import conclude, show
from cli.proving.stack_jobs import gather, keep
from cli.stack import Stack
from evidence.criteria.expected import PROGRAMS
from evidence.judge import exit_status, judge
from evidence.model import Reading
from evidence.reader import read
from evidence.verdict import Asked, Ended, Fabric, Job, Shape
from hardware.profiles import PROFILES, Profile

KIND = Judging
_LAYOUT = re.compile(r"(\d{1,3})x(\d{1,2})(?:x\d{1,3})?")

Files = Annotated[
    list[str] | None,
    typer.Option("--file", "-f", help="Log of the job; several times for several. - is standard input."),
]
MoreFiles = Annotated[list[str] | None, typer.Argument(metavar="LOG", help="More of them, without -f.")]
ProfileOption = Annotated[str | None, typer.Option(help="Hardware profile of the nodes, e.g. dgx1-v100-16gb.")]
LayoutOption = Annotated[str | None, typer.Option(help="Pods x GPUs of each, e.g. 02x08.")]
TransportOption = Annotated[Transport | None, typer.Option(help="Between nodes; leave it out for a job on one node.")]
FabricOption = Annotated[
    Literal["infiniband", "roce", "ethernet"] | None, typer.Option(help="Default: what the profile's ports are.")
]
ProgramOption = Annotated[str | None, typer.Option(help="As docs/programs.md lists it, or rdma-test.")]
NodesOption = Annotated[
    list[str] | None, typer.Option("--node", help="Node that the job was on; several times for several.")
]
SharpOption = Annotated[bool, typer.Option("--sharp", help="Switches are to reduce (CollNet).")]
JobOption = Annotated[
    list[str] | None,
    typer.Option(
        "--job",
        help="Only this job, NAME or TENANT/NAME; several times for several. Then nodes are not asked, not even for "
        "causes, and no result is kept.",
    ),
]
WaitOption = Annotated[
    float | None,
    typer.Option(min=0, help="Seconds to wait for jobs that still run; default 0, on a simulated cluster 30."),
]
AllOption = Annotated[bool, typer.Option("--all", help="Show the criteria that passed, too.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


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
    plain: JsonOption = False,
) -> None:
    """Judge what jobs prove by their logs: exit status 0 pass, 1 fail, 2 not enough evidence, 3 nothing judged.

    3 is for what keeps from judging: options that are wrong, a cluster that does not answer, logs that cannot be read.

    Without files: all jobs of a stack, from its cluster, and the result is kept for `./hpc report`. With files: of one
    job, of which the options say what it was to be.
    """
    names = [*(file or ()), *(more or ())]
    if not names:
        said = {"profile": profile, "layout": layout, "transport": transport, "fabric": fabric, "program": program}
        other = {"node": node or None, "sharp": sharp or None}
        for option in [option for option, value in {**said, **other}.items() if value is not None]:
            raise Problem(f"--{option} is for files: of a stack the settings say it", "Name logs, or leave it out.")
        raise typer.Exit(of_stack(stacks.read(stack, name), job, wait=wait, everything=everything, plain=plain))
    if job is not None or wait is not None:
        raise Problem(f"--{'job' if job else 'wait'} is for the jobs of a stack", "Leave it out, or the files.")
    machine = _profile(profile)
    asked = Asked(
        job=names[0] if len(names) == 1 else f"{len(names)} logs",
        program=_program(program),
        profile=profile,
        fabric=fabric or default_fabric(machine, transport),
        shape=shape(layout),
        nodes=tuple(node or ()),
        transport=transport,
        sharp=sharp,
    )
    raise typer.Exit(conclude([of_files(names, asked)], plain=plain))


def of_stack(stack: Stack, only: Sequence[str] | None, *, wait: float | None, everything: bool, plain: bool) -> int:
    """Judge the jobs of a stack by what is on its cluster, keep the result, and return the exit status."""
    jobs = gather(stack, only, wait=wait, silent=plain)
    verdicts = judge(jobs)
    show(jobs, verdicts, plain=plain, everything=everything or bool(only))
    if text := outdated(stack):
        errors.print(f"warning: {text}", markup=False)
    if only is None:
        try:
            file, number = keep(stack, jobs, verdicts)
        except OSError as error:
            told = explain(error) or f"{error.strerror or error}: {error.filename or results.file(stack)}"
            errors.print(f"warning: this result is not kept, so no report will have it: {told}", markup=False)
        else:
            if not plain:
                console.print(f"run {number} of {file}; `./hpc report {stack.options} -o DIR` draws it", markup=False)
    return exit_status(verdicts)


def outdated(stack: Stack) -> str:
    """Say that jobs may be judged by settings with which they were not made, where we can read when that was."""
    backend = stack.backend
    written = backend.written(stack.name) if backend else None
    if written is None or stack.file.stat().st_mtime <= written:
        return ""
    return (
        f"{stack.file.name} was written after the last update: a job that it changes is judged by what it was not made "
        f"with, until `./hpc up {stack.options}`"
    )


def of_files(names: list[str], asked: Asked) -> Job:
    """Return a job of which somebody has the logs. Raises Problem for a file that cannot be read."""
    readings: list[Reading] = []
    for name in names:
        try:
            readings += read(Path(name))
        except OSError as error:
            raise Problem(f"{name}: {error.strerror or error}", "Name logs that can be read.") from None
    return Job(asked=asked, ended=Ended.UNKNOWN, readings=tuple(readings))


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


def _program(name: str | None) -> str | None:
    if name is not None and name not in PROGRAMS:
        raise Problem(f"--program {name!r} is not known", f"Known: {', '.join(sorted(PROGRAMS))}.")
    return name
