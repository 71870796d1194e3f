"""`./hpc sim`: the simulated cluster alone."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from core import simulated
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared import stack_checks
from toolkit.cli.shared.console import Reporter, print_text, show_rows
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, OtherName, StackOption
from toolkit.cli.shared.simulated import backend
from toolkit.cli.shared.simulated import spec as specs
from toolkit.cli.shared.simulated.cluster import MIB
from toolkit.engine import tools
from toolkit.engine.tools.data import DATA
from toolkit.engine.tools.modules import MODULES
from toolkit.simulator import cluster
from toolkit.simulator.home import Layout
from toolkit.simulator.status import ProcessStatus

AnyStack = Annotated[str | None, typer.Option("--stack", "-s", help="The simulated cluster of this stack.")]
AllOption = Annotated[bool, typer.Option("--all", help="All simulated clusters.")]
RaiseOption = Annotated[
    bool,
    typer.Option("--raise", help="Upgrade a cluster of an earlier release to the stack's; its objects and data stay."),
]
BuiltOption = Annotated[bool, typer.Option("--built", help="Also remove the built tools (current versions).")]

app = typer.Typer(help="Start, stop, inspect and remove the simulated cluster alone.", no_args_is_help=True)


@app.command()
def up(stack_name: StackOption = DEFAULT_STACK, name: OtherName = None, *, upwards: RaiseOption = False) -> None:
    """Start the cluster with the nodes of a stack.

    Restarts processes of it that have died, and installs nothing of the platform.
    """
    stack = stacks.read_for_nodes(stack_name, name)
    if not stack.simulated and name is None:
        raise Problem(
            f"stack {stack_name} is on a real cluster", "Name the simulated one that is to have its nodes (`--name`)."
        )
    stack_checks.require_own_cluster(stack)
    if upwards:
        spec, line = specs.raised(stack)
        print_text(line)
    else:
        spec = specs.fitting(stack)
    started = cluster.up(spec, progress=Reporter())
    backend.make_store(stack.home)
    name = stack.cluster_name
    word = "runs already" if started.reused else f"started ({', '.join(started.started)})"
    print_text(f"simulated cluster {name} {word}: {started.server}, context {started.context}")
    if differs := specs.kubernetes_note(stack):
        print_text(differs)
    print_text(f"export KUBECONFIG={started.kubeconfig}")


@app.command()
def down(stack: AnyStack = None, name: OtherName = None) -> None:
    """Stop the cluster's processes; its data and state stay."""
    name = _chosen(stack, name)
    stopped = cluster.down(simulated.home(name))
    print_text(f"simulated cluster {name}: {_stopped(stopped)}")


@app.command()
def clean(
    stack: AnyStack = None, name: OtherName = None, *, everything: AllOption = False, built: BuiltOption = False
) -> None:
    """Stop and remove the cluster, with its Pulumi state."""
    names = sorted(path.name for path in simulated.root().glob("*/")) if everything else [_chosen(stack, name)]
    for cluster_name in names:
        stopped = cluster.clean(simulated.home(cluster_name))
        print_text(f"simulated cluster {cluster_name}: {_stopped(stopped)}, removed")
    if built:
        for folder in built_folders():
            shutil.rmtree(folder, ignore_errors=True)
            print_text(f"removed {folder}")


def built_folders() -> list[Path]:
    """Return what this checkout's versions of the tools take in the cache; other versions stay, for other checkouts."""
    names = [*(made.cache_name() for made in MODULES), *(made.cache_name() for made in DATA)]
    return [tools.cache_folder() / name for name in names if (tools.cache_folder() / name).is_dir()]


@app.command()
def kubeconfig(stack: AnyStack = None, name: OtherName = None) -> None:
    """Print the path of the kubeconfig."""
    name = _chosen(stack, name)
    path = Layout(simulated.home(name)).kubeconfig
    if not path.is_file():
        raise Problem(f"there is no simulated cluster {name}", f"Start it: `./hpc sim up --name {name}`.")
    print_text(str(path))


@app.command()
def status(stack: AnyStack = None, name: OtherName = None) -> None:
    """Show processes, memory and nodes.

    Exit status 1 unless all processes run.
    """
    simulation = cluster.status(simulated.home(_chosen(stack, name)))
    print_text(f"simulated cluster {simulation.name}: {simulation.state}, {simulation.server or 'no server'}")
    if simulation.problem:
        print_text(simulation.problem)
    show_rows("", ("process", "pid", "state", "MiB now", "MiB peak"), map(_row, simulation.processes))
    if simulation.processes:
        if simulation.object_store:
            print_text(
                f"state of Pulumi: in the simulated object store at {simulation.object_store}; "
                f"`./hpc pulumi --print-env --stack STACK --name {simulation.name}` gives its keys"
            )
        if simulation.discover:
            print_text(
                f"simulated Spectrum Discover: {simulation.discover}, over {Layout(Path(simulation.home)).catalogue}"
            )
        if simulation.scale_gui:
            print_text(f"simulated GUI of Storage Scale: {simulation.scale_gui}")
        if simulation.metrics:
            print_text(f"simulated metrics: {simulation.metrics} (docs/guide/monitoring.md)")
        print_text(f"logs: {Path(simulation.processes[0].log).parent}")
    for node in simulation.nodes:
        print_text(f"{node.name}: {node.state}, {', '.join(node.roles)}, {node.profile or 'no special hardware'}")
    if simulation.state != "running":
        raise typer.Exit(1)


def _row(process: ProcessStatus) -> tuple[str, ...]:
    amounts = (f"{amount / MIB:.0f}" for amount in (process.rss_bytes, process.peak_rss_bytes))
    return (process.name, str(process.pid), "runs" if process.alive else "dead", *amounts)


def _chosen(stack: str | None, name: str | None) -> str:
    """Return the cluster that is meant: by its name, else a stack's, else the one of `make up`.

    The settings are read for a stack only: a cluster can be stopped by its name whatever is wrong in them.
    """
    if name is not None or stack is None:
        return name or "default"
    return stacks.read(stack).cluster_name


def _stopped(names: tuple[str, ...]) -> str:
    return f"stopped {', '.join(names)}" if names else "nothing ran"
