"""Where the GPU nodes are in the fabric: levels and domains, by the settings or the cabling that a document plans."""

from collections.abc import Mapping, Sequence
from typing import Literal

from components.base.scheduling import LabelKey, TopologyLevel
from core.apis import topology
from core.hardware.cabling import ESS3000, Cabling, cabling
from core.hardware.fabric import POD_NODES, unit_of
from stacks.settings.fabric import NoFabric
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.topology import TopologyRequest
from stacks.settings.workloads import SpanningWorkload

_SWITCH = "switch-1"
HOSTS = TopologyLevel.model_construct(name=topology.HOST, label=topology.HOSTNAME, existing=True)
"""The level below all others."""


def plan_of(pool: Pool, settings: Settings) -> Literal["pods", "one switch"] | None:
    """Return how a document cables such machines: in PODs or to a lab's one switch."""
    if pool.fabric.kind != "infiniband":
        return None
    if pool.machine.reference_design == "superpod":
        return "pods"
    return "one switch" if settings.storage and not pool.machine.storage_ports else None


def one_switch(pool: Pool) -> Cabling:
    """Return the cables of all machines to one switch; raise ValueError where its ports do not suffice."""
    return cabling([node.name.split(".")[0] for node in pool.nodes], pool.machine, ESS3000)


def positions(pool: Pool, settings: Settings) -> Mapping[str, Mapping[str, str]]:
    """Return for every node of a pool the domains that it is in, by level: as its settings say, else as it is cabled.

    Domains of the cabling have the pool's name before theirs: every pool has switches of its own.
    """
    before = f"{pool.name}-" if pool.declared else ""
    return {
        node.name: {**{level: before + domain for level, domain in cabled.items()}, **node.topology}
        for node, cabled in zip(pool.nodes, _cabled(pool, settings), strict=True)
    }


def _cabled(pool: Pool, settings: Settings) -> Sequence[Mapping[str, str]]:
    nodes = range(len(pool.nodes))
    match plan_of(pool, settings):
        case "pods":
            places = [{"spine": f"pod-{pod}", "leaf": f"pod-{pod}-unit-{unit}"} for pod, unit in map(unit_of, nodes)]
            return places if len(nodes) > POD_NODES else [{"leaf": place["leaf"]} for place in places]
        case "one switch" if planned_switch(pool, settings):
            return [{"leaf": _SWITCH}] * len(nodes)
        case _:
            return [{}] * len(nodes)


def planned_switch(pool: Pool, settings: Settings) -> Cabling | None:
    """Return the cables to one switch, where a document plans them so and its ports suffice."""
    try:
        return one_switch(pool) if plan_of(pool, settings) == "one switch" else None
    except ValueError:
        return None


def levels(pool: Pool, settings: Settings) -> tuple[TopologyLevel, ...]:
    """Return a pool's levels above the hosts, from the widest; none without topology-aware scheduling.

    Nodes that no fabric joins have those alone at which the settings place them.
    """
    topology_settings = settings.queues.topology if settings.queues else None
    if topology_settings is None or (topology_settings.levels and not without_fabric(pool)):
        return topology_settings.levels if topology_settings else ()
    named = {level for place in positions(pool, settings).values() for level in place}
    possible = topology_settings.levels or [TopologyLevel(name=level) for level in topology.LABELS]
    return tuple(level for level in possible if level.name in named)


def without_fabric(pool: Pool) -> bool:
    """Say whether no fabric joins the nodes of one of several pools, so that hosts may be its only level."""
    return pool.declared and isinstance(pool.fabric, NoFabric)


def level_names(settings: Settings) -> tuple[str, ...]:
    """Return the names of the levels above the hosts that any pool has."""
    return tuple(dict.fromkeys(level.name for pool in settings.gpu_pools for level in levels(pool, settings)))


def labels(settings: Settings) -> Mapping[str, Mapping[str, str]]:
    """Return the labels that the stack gives its GPU nodes for their places in the fabric, by node."""
    by_node: dict[str, Mapping[str, str]] = {}
    for pool in settings.gpu_pools:
        if set_here := [level for level in levels(pool, settings) if not level.existing]:
            for node, place in positions(pool, settings).items():
                by_node[node] = {level.key: place[level.name] for level in set_here if level.name in place}
    return by_node


def request(workload: SpanningWorkload, pool: Pool, settings: Settings) -> TopologyRequest | None:
    """Return how close to each other the pods of a workload are to run; None: anywhere.

    The request of all jobs is for those of pools that have its level.
    """
    topology_settings = settings.queues.topology if settings.queues else None
    of_all = (
        topology_settings.jobs
        if topology_settings and topology_settings.jobs and label(topology_settings.jobs, pool, settings)
        else None
    )
    return workload.topology or of_all


def label(closeness: TopologyRequest, pool: Pool, settings: Settings) -> LabelKey | None:
    """Return the label of the level that a request names.

    None where the pool has no such level, which `checks.topology` reports.
    """
    name = closeness.required or closeness.preferred
    return next((level.key for level in (*levels(pool, settings), HOSTS) if level.name == name), None)


def domains(level: str, pool: Pool, settings: Settings) -> Mapping[str, tuple[str, ...]]:
    """Return the nodes of each domain of a level of a pool, by the domain's path from the widest level.

    None of nodes whose place is not known, because others label them.
    """
    names = [pool_level.name for pool_level in levels(pool, settings)]
    above = names[: names.index(level) + 1] if level in names else names
    by_domain: dict[str, tuple[str, ...]] = {}
    for node, place in positions(pool, settings).items():
        if all(name in place for name in above):
            path = "/".join([*(place[name] for name in above), *([node] if level == topology.HOST else [])])
            by_domain[path] = (*by_domain.get(path, ()), node)
    return by_domain


def within(level: str, free: Mapping[str, int], pool: Pool, settings: Settings) -> list[dict[str, int]]:
    """Return the free GPUs of each domain of a level of a pool by node, as `domains`."""
    return [{node: free[node] for node in nodes if node in free} for nodes in domains(level, pool, settings).values()]
