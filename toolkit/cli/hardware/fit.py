"""`./hpc hardware fit`: in which layouts a job fits on the GPUs that are free."""

from collections.abc import Mapping
from typing import Annotated

import typer

from core.hardware.placement import Gain, Plan, gain, plan, plan_within
from core.wording import some
from stacks.resolved import jobs, topology
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, JsonOption, StackOption, print_json

_SHOWN = 8  # nodes that a message names

GpusOption = Annotated[int, typer.Option("--gpus", "-g", min=1, help="GPUs of the job, all pods together.")]
PodOption = Annotated[int | None, typer.Option("--gpus-per-pod", min=1, help="GPUs of each pod; default: try all.")]
WithinOption = Annotated[
    str | None, typer.Option("--within", help="Level of the fabric, e.g. leaf: all pods in one domain.")
]
PoolOption = Annotated[str | None, typer.Option("--pool", help="Pool of the job. Default: the stack's only one.")]
FreeOption = Annotated[
    str,
    typer.Option(
        help="Free GPUs as NODE=N, comma-separated; all other nodes then have none. Default: as in the settings."
    ),
]


def command(
    gpus: GpusOption,
    gpus_per_pod: PodOption = None,
    stack: StackOption = DEFAULT_STACK,
    free: FreeOption = "",
    within: WithinOption = None,
    *,
    pool: PoolOption = None,
    plain: JsonOption = False,
) -> None:
    """Show on which nodes a job of some GPUs fits.

    Exit status 1, with the reason, where it fits nowhere.
    """
    settings = stacks.read(stack).settings
    of_job = _pool(pool, settings)
    nodes = of_job.free
    free_gpus = chosen(free, nodes) if free else nodes
    if within:
        placement_plan = plan_within(rooms(within, free_gpus, of_job, settings), gpus, gpus_per_pod, level=within)
    else:
        placement_plan = plan(free_gpus, gpus, gpus_per_pod)
    if plain:
        print_json(_data(placement_plan, gain(free_gpus, gpus)))
    else:
        print_text(placement_plan.table())
        if gpus_per_pod is None and any(free_gpus.values()):
            print_text(str(gain(free_gpus, gpus)))
    raise typer.Exit(0 if placement_plan.options else 1)


def _pool(name: str | None, settings: Settings) -> Pool:
    try:
        return jobs.pool_of(name, None, settings)
    except ValueError as error:
        raise Problem(f"--{error}") from None


def rooms(level: str, free: Mapping[str, int], pool: Pool, settings: Settings) -> list[dict[str, int]]:
    """Return the free GPUs of each domain of a level; raise Problem where the pool does not know any."""
    names = [topology_level.name for topology_level in (*topology.levels(pool, settings), topology.HOSTS)]
    if level not in names:
        where = f"of pool {pool.name}" if pool.declared else "in this stack"
        raise Problem(
            f"--within {level}: no level of the fabric {where}", f"Known: {', '.join(names)} (queues.topology)."
        )
    domains = topology.within(level, free, pool, settings)
    if not domains:
        raise Problem(
            f"--within {level}: the cluster's nodes have their labels from elsewhere",
            "Give the nodes' places in the settings (nodes[].topology), or leave it out.",
        )
    return domains


def chosen(text: str, nodes: Mapping[str, int]) -> dict[str, int]:
    """Return the free GPUs in `text` by node, whose name may be its first label; raise Problem for what cannot be.

    `nodes` are the GPU nodes with the GPUs that jobs may have.
    """
    free_gpus: dict[str, int] = {}
    for entry in text.split(","):
        name, _, number = (part.strip() for part in entry.partition("="))
        meant = [name] if name in nodes else [node for node in nodes if node.split(".")[0] == name]
        if len(meant) != 1 or not number.isdecimal():
            raise Problem(
                f"--free: {entry!r} is not NODE=N with a GPU node and a whole number",
                f"GPU nodes: {some([*nodes], _SHOWN)}",
            )
        (node,) = meant
        if node in free_gpus or int(number) > nodes[node]:
            why = "is given twice" if node in free_gpus else f"has {nodes[node]} GPUs for jobs, not {number}"
            raise Problem(f"--free: {node} {why}", "Give each node once, with no more GPUs than it has.")
        free_gpus[node] = int(number)
    return free_gpus


def _data(job_plan: Plan, gained: Gain) -> dict[str, object]:
    options = [
        {"layout": str(option), "pods": option.pods, "gpusPerPod": option.gpus, "nodes": dict(option.on)}
        for option in job_plan.options
    ]
    return {"gpus": job_plan.gpus, "layouts": options, "reason": job_plan.reason, "gain": gained.model_dump()}
