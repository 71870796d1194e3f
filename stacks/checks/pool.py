"""What is wrong between pools, their nodes and taints, and what a cluster has once for all of them."""

from collections import Counter
from collections.abc import Iterator

from components.base.scheduling import GPU_TAINT, Taint, Toleration
from core.apis.kinds import NODE_FEATURE_DISCOVERY_V1ALPHA1
from core.apis.names import KUBERNETES_TAINTS
from stacks.checks import fabric
from stacks.resolved import instances
from stacks.resolved.quotas import PLAIN
from stacks.settings.fabric import Ethernet, NoFabric, Roce
from stacks.settings.gpu import GpuOperatorSettings, SpecialResourceSettings
from stacks.settings.platform import Settings
from stacks.settings.pools import MOST_TAINTS
from stacks.settings.resolved_pool import Pool
from stacks.settings.storage import HostClientStorage

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
    yield from fabric.drivers_without_effect(settings)
    yield from _taints(settings)
    pools = settings.gpu_pools
    if len(pools) < 2:  # noqa: PLR2004 - one pool agrees with itself
        return
    yield from fabric.between(pools)
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


_NOT_FOR_TENANTS = (*KUBERNETES_TAINTS, "node-role.kubernetes.io/infra")
"""Beginnings of keys of nodes whose taints the policy scheduler-decides refuses to tenants, or of Kubernetes' own."""


def _taints(settings: Settings) -> Iterator[str]:
    """Yield taints that would keep pods off the nodes that need them."""
    for pool in settings.gpu_pools:
        yield from _repeated_taints(pool)
        for taint in pool.taints:
            place = f"pools.{pool.name}.taints: {taint}"
            if taint.key.startswith(_NOT_FOR_TENANTS):
                yield (
                    f"{place} keeps tenants off, whose pods may not tolerate it; use another key, e.g. "
                    f"dedicated={pool.name}:NoSchedule"
                )
            for requester, remedy in _intolerant(taint, pool, settings):
                yield f"{place}: {requester} does not tolerate it; {remedy}"
    taints = list(dict.fromkeys(taint for pool in settings.gpu_pools for taint in pool.taints))
    if len(taints) > MOST_TAINTS:
        yield (
            f"pools: their taints are {len(taints)} together, and NMState's agents tolerate {MOST_TAINTS}; give pools "
            "some of them in common"
        )
    if (
        taints
        and all(node.machine for node in settings.workers)
        and all(any(taint.keeps_off for taint in pool.taints) for pool in settings.gpu_pools)
    ):
        yield (
            "pools: every worker has a taint, and pods of operators, of monitoring and of the router tolerate none of "
            "them; leave the taints of one pool out, or add workers without GPUs"
        )


def _repeated_taints(pool: Pool) -> Iterator[str]:
    kinds = [(taint.key, taint.effect) for taint in pool.taints]
    for key, effect in dict.fromkeys(kind for kind in kinds if kinds.count(kind) > 1):
        yield f"pools.{pool.name}.taints: {key}:{effect} is there twice, and a node has it once; leave one out"


def _intolerant(taint: Taint, pool: Pool, settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield pods of the platform that a taint keeps off the nodes of a pool, each with what to do."""
    if not taint.keeps_off:
        return
    if isinstance(settings.gpu, SpecialResourceSettings) and not _is_borne(taint, GPU_TAINT):
        yield "the Special Resource Operator's driver", f"use {GPU_TAINT.key}:{GPU_TAINT.effect}, or leave it out"
    features = settings.version.node_feature_discovery
    if settings.node_feature_discovery and features == NODE_FEATURE_DISCOVERY_V1ALPHA1:
        yield f"node feature discovery of {features.api_version}", "leave it out"
    on_hosts = isinstance(settings.storage, HostClientStorage) and pool.has_scale_clients
    if on_hosts and settings.version.scale_csi == "2.0":
        yield "the Spectrum Scale CSI driver 2.0", "leave it out, or use nodes that are no clients"


def _is_borne(taint: Taint, toleration: Toleration) -> bool:
    same = toleration.key == taint.key and toleration.value in (None, taint.value)
    return same and toleration.effect in (None, taint.effect)
