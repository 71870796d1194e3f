"""What tenants may hold of each pool in their queues."""

from components.queues.quota import Quota, quota_of
from core.apis import devices
from core.hardware.placement import Share
from stacks.resolved import instances
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.tenants import TenantSettings

PLAIN = "cpu"
"""The flavor of nodes without GPUs, and the value of their label `hpc.pulumi/pool`."""


def of(tenant: TenantSettings, launchers: Share, settings: Settings) -> dict[str, Quota]:
    """Return what a tenant's jobs may hold, by flavor.

    Pods without GPUs have their share on nodes without GPUs; where the stack has no such nodes, on those of each pool.
    """
    if not settings.has_plain_workers:
        return {pool.name: _of_pool(tenant, launchers, pool, settings) for pool in settings.gpu_pools}
    beside = Quota(gpus=0, cpus=launchers.cpus, memory_gib=launchers.memory_gib)
    return {PLAIN: beside} | {pool.name: _of_pool(tenant, None, pool, settings) for pool in settings.gpu_pools}


def _of_pool(tenant: TenantSettings, launchers: Share | None, pool: Pool, settings: Settings) -> Quota:
    """Return a tenant's GPUs and instances of a pool, with the CPUs and memory that go with them."""
    gpus = settings.gpu_quota(tenant, pool)
    with_gpus = quota_of(pool.machine, gpus, launchers, pool.reserved)
    amounts = {size: tenant.instance_quota.get(size, 0) for size in instances.offered(pool.nodes)}
    further = {instances.resource(size): str(amount) for size, amount in amounts.items()}
    if pool.joined_by_nvlink:
        further[devices.CHANNEL_RESOURCE] = str(_pods(gpus, pool))
    parts = [(instances.share(size, pool), amount) for size, amount in amounts.items()]
    return Quota(
        gpus=gpus,
        cpus=with_gpus.cpus + sum(part.cpus * amount for part, amount in parts),
        memory_gib=with_gpus.memory_gib + sum(part.memory_gib * amount for part, amount in parts),
        borrows=settings.shares(tenant, pool),
        further=further,
    )


def channels(tenant: TenantSettings, settings: Settings) -> int | None:
    """Return the IMEX channels that a tenant's pods may hold: one on each node; None without ComputeDomains."""
    racks = [pool for pool in settings.gpu_pools if pool.joined_by_nvlink]
    if not racks:
        return None
    return sum(_pods(min(settings.most_gpus(tenant.namespace), sum(pool.free.values())), pool) for pool in racks)


def _pods(gpus: int, pool: Pool) -> int:
    """Return the most pods of ComputeDomains with so many GPUs: a node has one channel."""
    return min(gpus, len(pool.nodes))
