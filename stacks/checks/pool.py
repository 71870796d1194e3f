"""What is wrong between pools, their nodes, and what a cluster has once for all of them."""

from collections import Counter
from collections.abc import Iterator

from stacks.checks import adapter, taint
from stacks.resolved import instances
from stacks.resolved.quotas import PLAIN
from stacks.settings.fabric import Ethernet, NoFabric, Roce
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool

_OWN_LABELS = "hpc.pulumi/"


def problems(settings: Settings) -> Iterator[str]:
    """Yield what keeps the nodes from being in one pool each; without `pools` they all are in the same."""
    if not settings.pools:
        machines = sorted({node.machine for node in settings.gpu_nodes if node.machine})
        if len(machines) > 1:
            yield (
                f"nodes: machine {' and '.join(machines)}: machines of several kinds need `pools`; give each kind a "
                "pool with its machine, and each node its `pool`"
            )
        if node := next((node for node in settings.nodes if node.pool), None):
            yield f"nodes: pool {node.pool} of {node.name} has no effect without `pools`; add the pool there"
        return
    for node in settings.nodes:
        if node.pool and node.pool not in settings.pools:
            yield f"nodes: pool {node.pool} of {node.name} is none of `pools`: {', '.join(settings.pools)}; correct it"
        elif node.machine and not node.pool:
            yield f"nodes: {node.name} has machine {node.machine} and no pool; name one of {', '.join(settings.pools)}"
    used = {node.pool for node in settings.nodes}
    for name, pool in settings.pools.items():
        if name not in used:
            yield f"pools.{name}: no node is in it; name it as `pool` of nodes, or leave it out"
        if name == PLAIN:
            yield f"pools.{name}: nodes without GPUs are called so; give it another name, e.g. that of its machine"
        if pool.driver and not isinstance(settings.gpu, GpuOperatorSettings):
            yield (
                f"pools.{name}.driver has no effect with gpu.enablement {settings.gpu.enablement}: only the GPU "
                "Operator brings pools drivers of their own; leave it out"
            )
        for label in pool.labels:
            if label.startswith(_OWN_LABELS):
                yield f"pools.{name}.labels: {label} is a label of the stack's own; leave it out"


def between(settings: Settings) -> Iterator[str]:
    """Yield in what pools differ and may not, as the cluster has it once, and what tenants have of them."""
    yield from _quotas(settings)
    yield from adapter.without_effect(settings)
    yield from taint.problems(settings)
    pools = settings.gpu_pools
    if len(pools) < 2:  # noqa: PLR2004 - one pool agrees with itself
        return
    yield from adapter.between(pools)
    yield from _links(pools)
    yield from _machine_config_pools(pools)
    yield from _instances(settings)
    if settings.site is not None and sum(not isinstance(pool.fabric, NoFabric) for pool in pools) > 1:
        yield "site: files for hosts and switches are written for one fabric, and several pools have one; leave it out"


def _quotas(settings: Settings) -> Iterator[str]:
    names = [pool.name for pool in settings.gpu_pools if pool.declared]
    for tenant in settings.tenants:
        quota = tenant.gpu_quota
        if isinstance(quota, int):
            if len(names) > 1:
                example = ", ".join(f"{name}: 8" for name in names)
                yield (
                    f"tenants: gpu_quota {quota} of {tenant.namespace} does not say of which pool; give it by pool, "
                    f"e.g. {{{example}}}"
                )
            continue
        for name in quota:
            if name not in names:
                yield (
                    f"tenants: gpu_quota of {tenant.namespace} has pool {name!r}; known: {', '.join(names) or 'none'}; "
                    "correct it, or leave it out"
                )


def _links(pools: tuple[Pool, ...]) -> Iterator[str]:
    operators = {}
    for pool in pools:
        match pool.fabric:
            case Ethernet(bond=link) | Roce(ports=link) if link:
                operators[pool.name] = link.operator
    if len(set(map(str, operators.values()))) > 1:
        names = " and ".join(operators)
        yield f"pools: the NMState operator of {names} differs, and the cluster has one; make `operator` the same"


def _machine_config_pools(pools: tuple[Pool, ...]) -> Iterator[str]:
    first: dict[str, Pool] = {}
    for pool in pools:
        other = first.setdefault(pool.machine_config_pool, pool)
        if other is pool or (pool.tuning, other.tuning) == (None, None):
            continue
        if pool.tuning != other.tuning or pool.machine is not other.machine:
            yield (
                f"pools.{pool.name}: its nodes are in MachineConfigPool {pool.machine_config_pool} like those of "
                f"{other.name}, and `tuning` depends on the machine; give each a machine_config_pool of its own"
            )


def _instances(settings: Settings) -> Iterator[str]:
    strategy = settings.gpu.mig if isinstance(settings.gpu, GpuOperatorSettings) else "none"
    if strategy == "single":
        yield "gpu.mig single: instances and whole GPUs of several pools would both be nvidia.com/gpu; use mixed"
    sizes = Counter(size for pool in settings.gpu_pools for size in instances.offered(pool.nodes))
    for size, count in sizes.items():
        if count > 1 and settings.queues:
            yield f"pools: {count} have instances {size}, and instance_quota has one amount of it; divide one otherwise"
