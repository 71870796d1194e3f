"""What is wrong with the levels of the fabric, the nodes' places in it, and what jobs request of it."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from apis.topology import LABELS
from components.topology import TopologyLevel
from hardware.placement import fits
from stacks import topology
from stacks.checks.version import version_of
from stacks.jobs import ProgramJob
from stacks.platform import Settings
from stacks.releases import either
from stacks.topology_settings import TopologyRequest
from stacks.workload_settings import SpanningWorkload

_PACKAGE = "kueue-operator"
_NODES_SHOWN = 3


def problems(settings: Settings) -> Iterator[str]:
    """Yield what the nodes lack of the levels, and levels of nodes that mean nothing."""
    wanted = settings.queues.topology if settings.queues else None
    if wanted is None:
        if node := next((node for node in settings.nodes if node.topology), None):
            yield f"nodes: topology of {node.name} has no effect without queues.topology; give it, or leave this out"
        return
    yield from _served(settings)
    levels = topology.levels(settings)
    if not levels:
        yield (
            f"queues.topology: no document plans switches for {_machines(settings)}; give "
            "each GPU node its place, e.g. topology: {leaf: leaf-01}"
        )
        return
    yield from _meaningless(levels, settings)
    yield from _lost(levels, settings)
    if wanted.jobs and (problem := _unknown(wanted.jobs, settings)):
        yield f"queues.topology.jobs.{problem}"


def _machines(settings: Settings) -> str:
    return " and ".join(f"{pool.machine.name} on {pool.fabric.kind}" for pool in settings.gpu_pools)


def _served(settings: Settings) -> Iterator[str]:
    """Yield why the operator's version serves no Topology, by the table of the release."""
    queues, serving = settings.queues, settings.version.kueue_topology
    if queues is None or queues.operator.package != _PACKAGE:
        return
    version = version_of(queues.operator)
    if version and version not in serving:
        use = f"use a channel of {either(serving)}, or leave it out" if serving else "leave it out"
        yield (
            f"queues.topology: version {version} of queues.operator.channel {queues.operator.channel} serves no "
            f"Topology on OpenShift {settings.release}; {use}"
        )


def _meaningless(levels: Sequence[TopologyLevel], settings: Settings) -> Iterator[str]:
    names = [level.name for level in levels]
    for node in settings.nodes:
        if node.topology and node.profile is None:
            yield f"nodes: topology of {node.name}, which has no GPUs and so no jobs of queues; leave it out"
        for level in sorted(node.topology.keys() - {*names}):
            close = get_close_matches(level, {*names, *LABELS}, n=1)
            yield (
                f"nodes: topology of {node.name} has {level}, and queues.topology the levels {', '.join(names)}; "
                f"add it to queues.topology.levels with its label{f', or write {close[0]}' if close else ''}"
            )


def _lost(levels: Sequence[TopologyLevel], settings: Settings) -> Iterator[str]:
    """Yield the levels at which nodes have no place."""
    places = topology.positions(settings)
    for level in (level for level in levels if not level.existing):
        if lost := [node for node, place in places.items() if level.name not in place]:
            shown = ", ".join(lost[:_NODES_SHOWN])
            rest = f" and {len(lost) - _NODES_SHOWN} more" if len(lost) > _NODES_SHOWN else ""
            yield (
                f"nodes: topology of {shown}{rest} has no {level.name}, and no job would ever run there; give it, or "
                "say existing: true of the level where the nodes have its label already"
            )


def _unknown(wanted: TopologyRequest, settings: Settings) -> str | None:
    """Return what is wrong with the level that a request names; None where it is one."""
    names = [level.name for level in (*topology.levels(settings), topology.HOSTS)]
    field, name = ("required", wanted.required) if wanted.required else ("preferred", wanted.preferred)
    return None if name in names else f"{field} {name} is not a level of queues.topology; use {either(names)}"


def of_job(job: ProgramJob, settings: Settings) -> Iterator[str]:
    """Yield why a job can never run as close as it requests."""
    workload, layout, wanted = job.workload, job.layout, job.closeness
    if not isinstance(workload, SpanningWorkload):
        return
    if settings.queues is None or settings.queues.topology is None:
        if workload.topology:
            yield "topology: without queues.topology nothing places pods by the fabric; give that, or leave it out"
        return
    if workload.topology and (problem := _unknown(workload.topology, settings)):
        yield f"topology.{problem}"
        return
    if wanted is None or wanted.required is None:
        return
    pods = [{"gpus": layout.gpus}] * layout.pods
    holding = (fits(pods, {node: {"gpus": gpus} for node, gpus in domain.items()}) for domain in job.domains)
    if job.domains and not any(holding):
        most = max(sum(domain.values()) for domain in job.domains)
        place = "topology.required" if workload.topology else "queues.topology.jobs.required"
        yield (
            f"{place} {wanted.required}: layout {layout} takes {layout.total_gpus} GPUs, and no {wanted.required} "
            f"holds it: the largest has {most} for jobs; lower pods or gpus, or use preferred"
        )
