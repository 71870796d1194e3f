"""`./hpc place`: in which layouts a job fits on the GPUs that are free (B-6.1)."""

import json
from collections.abc import Mapping
from typing import Annotated

import typer

from cli import stack as stacks
from cli.commands.options import DEFAULT_STACK, StackOption
from cli.console import console
from cli.errors import Problem
from hardware.placement import Plan, plan

GpusOption = Annotated[
    int, typer.Option("--gpus", "-g", min=1, help="GPUs that the job is to have, all pods together.")
]
PodOption = Annotated[int | None, typer.Option("--gpus-per-pod", min=1, help="GPUs of each pod; default: try all.")]
FreeOption = Annotated[
    str,
    typer.Option(help="Free GPUs, NODE=N with commas; other nodes then have none. Default: what the settings say."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def command(
    gpus: GpusOption,
    gpus_per_pod: PodOption = None,
    stack: StackOption = DEFAULT_STACK,
    free: FreeOption = "",
    *,
    plain: JsonOption = False,
) -> None:
    """Say on which nodes a job's GPUs can be had, layout by layout; exit status 1, with the reason, when nowhere."""
    there = stacks.read(stack).settings.free
    found = plan(chosen(free, there) if free else there, gpus, gpus_per_pod)
    if plain:
        print(json.dumps(_data(found), indent=2))  # noqa: T201 - for a program
    else:
        console.print(found.table(), markup=False)
    raise typer.Exit(0 if found.options else 1)


def chosen(text: str, nodes: Mapping[str, int]) -> dict[str, int]:
    """Return the free GPUs in `text` by node, whose name may be its first label; raise Problem for what cannot be.

    `nodes` are the GPU nodes with the GPUs that jobs may have.
    """
    found: dict[str, int] = {}
    for entry in text.split(","):
        name, _, number = (part.strip() for part in entry.partition("="))
        meant = [name] if name in nodes else [node for node in nodes if node.split(".")[0] == name]
        if len(meant) != 1 or not number.isdecimal():
            raise Problem(
                f"--free: {entry!r} is not NODE=N with a GPU node and a whole number",
                f"GPU nodes: {_shown(nodes)}",
            )
        (node,) = meant
        if node in found or int(number) > nodes[node]:
            why = "is given twice" if node in found else f"has {nodes[node]} GPUs for jobs, not {number}"
            raise Problem(f"--free: {node} {why}", "Give each node once, with no more GPUs than it has.")
        found[node] = int(number)
    return found


def _shown(nodes: Mapping[str, int], most: int = 8) -> str:
    names = list(nodes)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def _data(found: Plan) -> dict[str, object]:
    options = [
        {"layout": str(option), "pods": option.pods, "gpusPerPod": option.gpus, "nodes": dict(option.on)}
        for option in found.options
    ]
    return {"gpus": found.wanted, "layouts": options, "reason": found.reason}
