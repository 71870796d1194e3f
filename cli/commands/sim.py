"""`./hpc sim`: the simulated cluster alone."""

import shutil
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cli import generations, state
from cli import stack as stacks
from cli.backends import choice
from cli.commands.options import DEFAULT_NAME, DEFAULT_STACK, AnyStack, OtherName, StackOption
from cli.console import Reporter, console
from cli.errors import Problem
from cli.memory import MIB
from simulator import cluster, home, tools
from simulator.tool_table import DATA, MODULES

AllOption = Annotated[bool, typer.Option("--all", help="All simulated clusters.")]
RaiseOption = Annotated[
    bool,
    typer.Option("--raise", help="Bring a cluster of release 4.4 to the stack's later one; its objects and data stay."),
]
BuiltOption = Annotated[bool, typer.Option("--built", help="Also the tools that were built (their versions of now).")]

app = typer.Typer(help="The simulated cluster alone: start it, stop it, look at it, remove it.", no_args_is_help=True)


@app.command()
def up(stack: StackOption = DEFAULT_STACK, name: OtherName = None, *, upwards: RaiseOption = False) -> None:
    """Start the cluster with the nodes of a stack, and what of it has died; of the platform it puts nothing there."""
    wanted = stacks.read(stack, name)
    if not wanted.simulated and name is None:
        raise Problem(
            f"stack {stack} is on a real cluster", "Name the simulated one that is to have its nodes (`--name`)."
        )
    state.require_own_cluster(wanted)
    if upwards:
        spec, said = generations.raised(wanted)
        console.print(said, markup=False)
    else:
        spec = generations.fitting(wanted)
    started = cluster.up(spec, progress=Reporter())
    choice.make_bucket(wanted.home)
    name = wanted.cluster_name
    word = "runs already" if started.reused else f"started ({', '.join(started.started)})"
    console.print(f"simulated cluster {name} {word}: {started.server}, context {started.context}", markup=False)
    console.print(f"export KUBECONFIG={started.kubeconfig}", markup=False)


@app.command()
def down(stack: AnyStack = None, name: OtherName = None) -> None:
    """Stop the cluster's processes; keep its data, port and Pulumi state."""
    name = _chosen(stack, name)
    stopped = cluster.down(home.of(name))
    console.print(f"simulated cluster {name}: {_stopped(stopped)}", markup=False)


@app.command()
def clean(
    stack: AnyStack = None, name: OtherName = None, *, everything: AllOption = False, built: BuiltOption = False
) -> None:
    """Stop the cluster and remove all of it, with the Pulumi state that lives beside it."""
    found = sorted(path.name for path in home.root().glob("*/")) if everything else [_chosen(stack, name)]
    for one in found:
        stopped = cluster.clean(home.of(one))
        console.print(f"simulated cluster {one}: {_stopped(stopped)}, removed", markup=False)
    if built:
        for folder in built_folders():
            shutil.rmtree(folder, ignore_errors=True)
            console.print(f"removed {folder}", markup=False)


def built_folders() -> list[Path]:
    """Return what this checkout's versions of the tools take in the cache; other versions stay, for other checkouts."""
    names = [made.cache_name() for made in (*MODULES, *DATA)]
    return [tools.cache_folder() / name for name in names if (tools.cache_folder() / name).is_dir()]


@app.command()
def kubeconfig(stack: AnyStack = None, name: OtherName = None) -> None:
    """Print the path of the kubeconfig."""
    name = _chosen(stack, name)
    path = home.Layout(home.of(name)).kubeconfig
    if not path.is_file():
        raise Problem(f"there is no simulated cluster {name}", f"Start it: `./hpc sim up --name {name}`.")
    console.print(str(path), markup=False)


@app.command()
def status(stack: AnyStack = None, name: OtherName = None) -> None:
    """Show processes, memory and nodes; exit status 1 unless all of it runs."""
    found = cluster.status(home.of(_chosen(stack, name)))
    console.print(f"simulated cluster {found.name}: {found.state}, {found.server or 'no server'}", markup=False)
    if found.problem:
        console.print(found.problem, markup=False)
    table = Table("process", "pid", "state", "MiB now", "MiB peak", box=None, pad_edge=False)
    for process in found.processes:
        amounts = (f"{amount / MIB:.0f}" for amount in (process.rss_bytes, process.peak_rss_bytes))
        table.add_row(process.name, str(process.pid), "runs" if process.alive else "dead", *amounts)
    if found.processes:
        console.print(table)
        if found.object_store:
            console.print(
                f"state of Pulumi: in the simulated object store at {found.object_store}; "
                f"`./hpc env --stack STACK --name {found.name}` gives its keys",
                markup=False,
            )
        console.print(f"logs: {Path(found.processes[0].log).parent}", markup=False)
    for node in found.nodes:
        console.print(f"{node.name}: {node.state}, {', '.join(node.roles)}, {node.profile or 'no special hardware'}")
    if found.state != "running":
        raise typer.Exit(1)


def _chosen(stack: str | None, name: str | None) -> str:
    """Return the cluster that is meant: by its name, else a stack's, else the one of `make up`.

    The settings are read for a stack only: a cluster can be stopped by its name whatever is wrong in them.
    """
    if name is not None or stack is None:
        return name or DEFAULT_NAME
    return stacks.read(stack).cluster_name


def _stopped(names: tuple[str, ...]) -> str:
    return f"stopped {', '.join(names)}" if names else "nothing ran"
