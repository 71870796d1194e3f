"""MIG instances of a stack: which sizes its nodes have, how many, and what a tenant may hold."""

from collections import Counter
from collections.abc import Iterable, Mapping

from core.apis import names
from core.hardware import placement
from core.hardware.placement import Share
from stacks.settings.cluster import NodeSettings
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool

OF_A_GPU = 1
"""GPUs of a pod with an instance, which it has a part of."""


def resource(size: str) -> str:
    """Return the name of the resource that instances of a size are, under the strategy `mixed`."""
    return f"{names.MIG_PREFIX}{size}"


def by_node(size: str, pool: Pool) -> Mapping[str, int]:
    """Return the nodes with instances of a size, and how many each has."""
    return {node.name: node.instances[size] for node in pool.nodes if size in node.instances}


def offered(nodes: Iterable[NodeSettings]) -> Mapping[str, int]:
    """Return every size that nodes have, with the number of such instances."""
    counts: Counter[str] = Counter()
    for node in nodes:
        counts.update(node.instances)
    return dict(sorted(counts.items()))


def most_of_a_gpu(size: str, pool: Pool) -> int:
    """Return into how many instances a GPU is divided that has some of a size: the most on any node."""
    divided = (node for node in pool.nodes if size in node.instances)
    return max((sum(node.instances.values()) // node.hardware.gpus for node in divided), default=1)


def share(size: str, pool: Pool) -> Share:
    """Return the CPUs and memory of a pod with an instance: its part of what goes with a GPU."""
    part = placement.share(pool.machine, OF_A_GPU, pool.reserved)
    parts = most_of_a_gpu(size, pool)
    return Share(cpus=max(part.cpus // parts, 1), memory_gib=max(part.memory_gib // parts, 1))


def limits(namespace: str, settings: Settings) -> dict[str, int]:
    """Return the instances that a tenant may hold at most, of every size: where tenants lend, those of all."""
    lends = settings.queues is not None and settings.queues.cohort is not None
    tenant = settings.tenant(namespace)
    amounts: Counter[str] = Counter()
    for pool in settings.gpu_pools:
        sharing = settings.everyone if lends and settings.shares(tenant, pool) else (tenant,)
        for size in offered(pool.nodes):
            amounts[size] = max(amounts[size], sum(holder.instance_quota.get(size, 0) for holder in sharing))
    return dict(sorted(amounts.items()))
