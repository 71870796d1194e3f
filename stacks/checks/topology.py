"""What is wrong with the levels of the fabric, the nodes' places in it, and what jobs request of it."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from core.apis.topology import HOST, LABELS
from core.hardware.placement import fits
from core.wording import plural, some
from stacks.releases import either
from stacks.resolved import topology
from stacks.resolved.jobs import ProgramJob
from stacks.resolved.versions import version_of
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.topology import TopologyRequest
from stacks.settings.workloads import SpanningWorkload

_PACKAGE = "kueue-operator"
_NODES_SHOWN = 3


def problems(settings: Settings) -> Iterator[str]:
    """Yield what the nodes lack of the levels, and levels of nodes that mean nothing."""
    topology_settings = settings.queues.topology if settings.queues else None
    if topology_settings is None:
        if node := next((node for node in settings.nodes if node.topology), None):
            yield f"nodes: topology of {node.name} has no effect without queues.topology; give it, or leave this out"
        return
    yield from _operator_version(settings)
    unplanned = [
        f"{pool.machine.name} on {pool.fabric.kind}"
        for pool in settings.gpu_pools
        if not topology.levels(pool, settings) and not topology.without_fabric(pool)
    ]
    if unplanned or not settings.gpu_pools:
        yield (
            f"queues.topology: no document plans switches for {' and '.join(unplanned)}; give "
            "each GPU node its place, e.g. topology: {leaf: leaf-01}"
        )
        return
    names = topology.level_names(settings)
    yield from _unused_levels(names, settings)
    for pool in settings.gpu_pools:
        yield from _missing_levels(pool, settings)
    yield from _shared_domains(settings)
    if topology_settings.jobs and (problem := _unknown(topology_settings.jobs, names)):
        yield f"queues.topology.jobs.{problem}"


def _operator_version(settings: Settings) -> Iterator[str]:
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


def _unused_levels(names: Sequence[str], settings: Settings) -> Iterator[str]:
    for node in settings.nodes:
        if node.topology and node.machine is None:
            yield f"nodes: topology of {node.name}, which has no GPUs and so no jobs of queues; leave it out"
        for level in sorted(node.topology.keys() - {*names}):
            close = get_close_matches(level, {*names, *LABELS}, n=1)
            yield (
                f"nodes: topology of {node.name} has {level}, and queues.topology the levels "
                f"{', '.join(names) or HOST}; "
                f"add it to queues.topology.levels with its label{f', or write {close[0]}' if close else ''}"
            )


def _missing_levels(pool: Pool, settings: Settings) -> Iterator[str]:
    """Yield the levels of a pool at which its nodes have no place."""
    places = topology.positions(pool, settings)
    for level in (level for level in topology.levels(pool, settings) if not level.existing):
        if lost := [node for node, place in places.items() if level.name not in place]:
            yield (
                f"nodes: topology of {some(lost, _NODES_SHOWN)} has no {level.name}, and no job would ever run there; "
                "give it, or say existing: true of the level where the nodes have its label already"
            )


def _shared_domains(settings: Settings) -> Iterator[str]:
    """Yield domains that nodes of different fabrics have in common: no path joins such nodes."""
    owners: dict[tuple[str, str], Pool] = {}
    for pool in settings.gpu_pools:
        shared: dict[tuple[str, str], str] = {}
        for node, place in topology.positions(pool, settings).items():
            for domain in place.items():
                if owners.setdefault(domain, pool).fabric != pool.fabric:
                    shared.setdefault(domain, node)
        for (level, value), node in shared.items():
            other = owners[level, value].name
            yield (
                f"nodes: topology of {node} in pool {pool.name} has {level} {value} like nodes of pool {other}, and "
                f"the fabrics of the two differ; give it a value of its own, e.g. {pool.name}-{value}"
            )


def _unknown(request: TopologyRequest, names: Sequence[str], of: str = "") -> str | None:
    """Return what is wrong with the level that a request names; None where it is one, or the hosts."""
    field, name = ("required", request.required) if request.required else ("preferred", request.preferred)
    if name in (*names, HOST):
        return None
    return f"{field} {name} is not a level of queues.topology{of}; use {either([*names, HOST])}"


def of_job(job: ProgramJob, settings: Settings) -> Iterator[str]:
    """Yield why a job can never run as close as it requests."""
    workload, layout, closeness = job.workload, job.layout, job.closeness
    if not isinstance(workload, SpanningWorkload):
        return
    if settings.queues is None or settings.queues.topology is None:
        if workload.topology:
            yield "topology: without queues.topology nothing places pods by the fabric; give that, or leave it out"
        return
    names = [level.name for level in topology.levels(job.pool, settings)]
    of = f" in pool {job.pool.name}" if job.pool.declared else ""
    if workload.topology and (problem := _unknown(workload.topology, names, of)):
        yield f"topology.{problem}"
        return
    if closeness is None or closeness.required is None:
        return
    pods = [{"gpus": layout.gpus}] * layout.pods
    holding = (fits(pods, {node: {"gpus": gpus} for node, gpus in domain.items()}) for domain in job.domains)
    if job.domains and not any(holding):
        most = max(sum(domain.values()) for domain in job.domains)
        place = "topology.required" if workload.topology else "queues.topology.jobs.required"
        yield (
            f"{place} {closeness.required}: layout {layout} takes {plural(layout.total_gpus, 'GPU')}, and no "
            f"{closeness.required} holds it: the largest has {most} for jobs; lower pods or gpus, or use preferred"
        )
