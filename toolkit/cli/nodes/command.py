"""`./hpc nodes`: which nodes are fit for jobs."""

from collections.abc import Sequence
from typing import Annotated

import typer

from core.apis import kinds, names
from stacks.settings.platform import Settings
from toolkit.cli.nodes import node_marks
from toolkit.cli.shared import session
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import confirmed, console, print_text, print_warning, show_rows, styled
from toolkit.cli.shared.errors import Judging, Problem
from toolkit.cli.shared.options import DEFAULT_STACK, JsonOption, OtherName, StackOption, print_json
from toolkit.cli.shared.stack import Stack
from toolkit.cli.verify import log_files
from toolkit.cli.verify.expectations import requests
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
from toolkit.cli.verify.stack_jobs import gather
from toolkit.cli.verify.verdict_tables import explain
from toolkit.evidence.criterion import readings_of
from toolkit.evidence.fitness import Fitness, Fitnesses, fitness, is_node_test, spans
from toolkit.evidence.judge import judge
from toolkit.evidence.tools.preflight.parser import Preflight
from toolkit.evidence.verdict import Job

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
_COLOURS = {Fitness.FIT: "green", Fitness.UNFIT: "red", Fitness.SUSPECT: "yellow", Fitness.UNKNOWN: "magenta"}
PROGRAM = "preflight"


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
        raise typer.Exit(of_logs(own, plain=plain))
    refuse({"machine": machine, "fabric": fabric, "gpus": gpus}, "is for logs in files, and none is named")
    raise typer.Exit(of_stack(stacks.read(stack, name), wait=wait, plain=plain, cordon=cordon, yes=yes))


def of_stack(stack: Stack, *, wait: float | None, plain: bool, cordon: bool, yes: bool) -> int:
    """Judge the nodes of a stack, with `cordon` label them after a question, and return the exit status."""
    selected = [request for request in requests(stack.settings, stack.locks) if is_node_test(request) or spans(request)]
    if not any(is_node_test(request) for request in selected):
        raise Problem(f"stack {stack.name} has no test of a node", f"Add a stage such as\n{stage(stack.settings)}")
    jobs = gather(stack, [request.job for request in selected], wait=wait, silent=plain)
    fitnesses = fitness([node.name for node in stack.settings.gpu_nodes], jobs, judge(jobs))
    show(fitnesses, jobs, plain=plain)
    if not plain and fitnesses.next:
        print_text(next_test(fitnesses, stack.settings))
    if cordon:
        _label(stack, fitnesses, yes=yes, plain=plain)
    return fitnesses.status


def of_logs(jobs: Sequence[Job], *, plain: bool) -> int:
    """Judge logs of tests of nodes, each of the node that it names, and return the exit status."""
    own = []
    for job in jobs:
        (run, *_) = [*readings_of(job, Preflight), None]
        if run is None:
            raise Problem(
                f"{job.request.job} is not a log of the program {PROGRAM}",
                f"Name logs of it. docs/guide/gpus.md has how {PROGRAM} is run.",
            )
        of_node = {"nodes": (run.node,), "program": PROGRAM, "prints": (run.tool,)}
        own.append(job.model_copy(update={"request": job.request.model_copy(update=of_node)}))
    fitnesses = fitness(list(dict.fromkeys(node for job in own for node in job.request.nodes)), own, judge(own))
    show(fitnesses, own, plain=plain)
    return fitnesses.status


def show(fitnesses: Fitnesses, jobs: Sequence[Job], *, plain: bool) -> None:
    """Print the verdict on each node, and below the table the lines and causes of those that are not fit."""
    simulated = any(reading.simulated for job in jobs for reading in job.readings)
    if plain:
        content = {"exit_status": fitnesses.status, "simulated": simulated, **fitnesses.model_dump(mode="json")}
        print_json(content)
        return
    by_node = {
        node: run.figures().partition(": ")[2]
        for job in jobs
        for run in readings_of(job, Preflight)
        for node in job.request.nodes
    }
    rows = (
        (node.node, styled(node.fitness, _COLOURS[node.fitness]), by_node.get(node.node, ""), node.why)
        for node in fitnesses.nodes
    )
    show_rows("Nodes (simulated)" if simulated else "Nodes", ("node", "verdict", "figures", "why"), rows)
    for node in fitnesses.nodes:
        if node.fitness is not Fitness.FIT and node.verdicts:
            console.print(styled(node.node, "bold"))
            explain(node.verdicts)


def next_test(fitnesses: Fitnesses, settings: Settings) -> str:
    """Return which test would find more, as a workload where settings can have it."""
    text = f"to find the bad node, test together next: {', '.join(fitnesses.next)}"
    pool = settings.pool_with(fitnesses.next[0]) if len(fitnesses.next) == 2 else None  # noqa: PLR2004 - the RDMA test's
    if pool is None or not pool.hcas:
        return text
    client, other = fitnesses.next
    hca, tenant = pool.hcas[0].name, settings.tenants[0].namespace
    return (
        f"{text}; as a workload (with the `image` of your RDMA test):\n"
        f"  - {{kind: rdma-test, name: pair-test, tenant: {tenant}, client_node: {client}, server_node: {other}, "
        f"hca: {hca}}}"
    )


def stage(settings: Settings) -> str:
    """Return a stage that tests every node of a stack, as YAML."""
    nodes = ", ".join(node.name for node in settings.gpu_nodes)
    return (
        "  - name: nodes\n    workloads:  # one for each of "
        f"{nodes}; a range such as gpu[01-04] is several\n"
        f"      - {{kind: job, tenant: {settings.tenants[0].namespace}, name: {PROGRAM}, program: {PROGRAM}, "
        f"gpus: {settings.gpu_nodes[0].hardware.gpus}, node: {settings.gpu_nodes[0].name}, image: ...}}"
    )


def _label(stack: Stack, fitnesses: Fitnesses, *, yes: bool, plain: bool) -> None:
    cluster = session.cluster(stack)
    marks = node_marks.changes(fitnesses.nodes, cluster.list(kinds.NODE))
    if not marks:
        if not plain:
            print_text(f"no label {names.UNFIT} has to change")
        return
    what = node_marks.sentence(marks)
    if not confirmed(f"{what[0].upper()}{what[1:]}?", yes=yes):
        return
    node_marks.write(cluster, marks)
    if not plain:
        print_text(f"done: {what} (label {names.UNFIT})")
    if not any(declared_stage.fit_nodes for declared_stage in stack.settings.stages):
        print_warning("no stage of this stack has `fit_nodes: true`, so its jobs start on marked nodes all the same")
