"""The host layer: what the nodes must be before anything runs on them."""

from collections.abc import Container, Mapping, Sequence

import pulumi

from components.base.model import fields_of
from components.base.timeouts import LONGEST, Timeouts
from components.nodes.kernel_arguments import KernelArguments, KernelArgumentsArgs, KernelTuning
from components.nodes.kernel_devel import KernelDevel, KernelDevelArgs
from components.nodes.kubelet_config import KubeletAlignment, KubeletConfig, for_machine
from components.nodes.machine_config import Ignition
from components.nodes.memlock import Memlock, MemlockArgs
from components.nodes.node_pool import (
    BUILT_IN,
    NodeLabels,
    NodeLabelsArgs,
    NodePool,
    NodePoolArgs,
    PoolRollout,
    PoolRolloutArgs,
    at_once,
    role,
)
from components.nodes.rail_names import RailNames, RailNamesArgs
from core.apis import names
from core.hardware import topology
from stacks.layers.operators import after
from stacks.resolved import topology as fabric_topology
from stacks.resolved.quotas import PLAIN
from stacks.settings.fabric import InfiniBand
from stacks.settings.gpu import DevicePluginSettings
from stacks.settings.platform import Settings
from stacks.settings.pools import TuningSettings
from stacks.settings.resolved_pool import Pool

SCALE_LABEL = "scale"


def label(settings: Settings, opts: pulumi.ResourceOptions) -> NodeLabels:
    """Label the nodes."""
    return NodeLabels("node-labels", NodeLabelsArgs(labels=labels(settings)), opts=opts)


def build(settings: Settings, labelled: NodeLabels, opts: pulumi.ResourceOptions) -> list[Memlock | PoolRollout]:
    """Configure the nodes; return what waits until their pool runs with all of it."""
    version = settings.version.ignition_version
    if version is None or settings.cluster.hosted:
        return []
    groups: dict[str, list[Pool]] = {}
    for pool in settings.gpu_pools:
        groups.setdefault(pool.machine_config_pool, []).append(pool)
    node_pools = [_node_pool(pool, settings, opts) for pool, *_ in groups.values() if pool.own_machine_config_pool]
    opts = after(opts, labelled, *node_pools) if node_pools else opts
    headers = _headers(settings, version, opts)
    configured = [part for pools in groups.values() for part in _configured(pools, headers, version, settings, opts)]
    return [*configured, *_worker_rollouts({*groups}, settings, headers, opts)]


def _node_pool(pool: Pool, settings: Settings, opts: pulumi.ResourceOptions) -> NodePool:
    rollout = {"at_once": pool.tuning.at_once} if pool.tuning else {}
    args = NodePoolArgs(pool=pool.machine_config_pool, protect=settings.protect, **rollout)
    return NodePool(_part("gpu-pool", pool), args, opts=_with_former_name("gpu-pool", pool, opts))


def _part(name: str, pool: Pool) -> str:
    """Return what a part of a MachineConfigPool is called among resources."""
    return f"{name}-{pool.machine_config_pool}" if pool.declared else name


def _with_former_name(name: str, pool: Pool, opts: pulumi.ResourceOptions) -> pulumi.ResourceOptions:
    """Return options under which a part of the first pool is that of the stack before it had `pools`.

    Its object has the same name on the cluster, and would otherwise be created where it exists.
    """
    if not (pool.declared and pool.first):
        return opts
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(aliases=[pulumi.Alias(name=name)]))


def _configured(
    pools: Sequence[Pool],
    headers: Mapping[str, KernelDevel],
    version: Ignition,
    settings: Settings,
    opts: pulumi.ResourceOptions,
) -> list[Memlock | PoolRollout]:
    """Configure the nodes of one MachineConfigPool; its pools of nodes have the same tuning (`checks.pool`)."""
    first, *_ = pools
    seconds = _rollout_seconds(pools, settings)
    locked = any(pool.uses_rdma for pool in pools)
    if first.tuning is None and not headers:
        return [_memlock(first, version, opts, seconds)] if locked else []
    parts = [
        *([_memlock(first, version, opts)] if locked else []),
        *(_tuning(first, first.tuning, version, settings.timeouts, opts) if first.tuning else []),
        *headers.values(),
    ]
    awaited = {name: digest for part in parts for name, digest in part.parts.items()}
    args = PoolRolloutArgs(pool=first.machine_config_pool, parts=awaited, rollout_timeout=seconds)
    return [PoolRollout(_part("nodes", first), args, opts=_with_former_name("nodes", first, after(opts, *parts)))]


def _rollout_seconds(pools: Sequence[Pool], settings: Settings) -> int:
    """Return how long a change of a MachineConfigPool may take: one of OpenShift's own has other nodes, too."""
    first, *_ = pools
    own = first.own_machine_config_pool
    nodes = sum(len(pool.nodes) for pool in pools) if own else len(settings.workers)
    away = at_once(first.tuning.at_once if first.tuning and own else "1", nodes)
    return min(-(-nodes // away) * settings.reboot_minutes * 60, LONGEST)


def _headers(settings: Settings, version: Ignition, opts: pulumi.ResourceOptions) -> dict[str, KernelDevel]:
    """Declare the kernel's headers for the pools of all workers, where Storage Scale builds its module; by role."""
    if not settings.scale_pods:
        return {}
    pools = {settings.machine_config_pool_of(node) for node in settings.workers}
    # A pool of one's own takes the workers' configuration as well.
    roles = sorted(pools & {*BUILT_IN}) if BUILT_IN[1] in pools else sorted(pools)
    return {
        role: KernelDevel(f"kernel-devel-{role}", KernelDevelArgs(pool=role, ignition_version=version), opts=opts)
        for role in roles
    }


def _worker_rollouts(
    gpus: Container[str], settings: Settings, headers: Mapping[str, KernelDevel], opts: pulumi.ResourceOptions
) -> list[PoolRollout]:
    """Return what waits for the pools of workers without GPUs."""
    rollouts = []
    for pool, kernel_devel in headers.items():
        nodes = sum(settings.machine_config_pool_of(node) == pool for node in settings.workers)
        if nodes and pool not in gpus:
            seconds = min(nodes * settings.reboot_minutes * 60, LONGEST)
            args = PoolRolloutArgs(pool=pool, parts=dict(kernel_devel.parts), rollout_timeout=seconds)
            rollouts.append(PoolRollout(f"nodes-{pool}", args, opts=after(opts, kernel_devel)))
    return rollouts


def ready_name(configured: Memlock | PoolRollout) -> pulumi.Output[str]:
    """Return a name that is known when the nodes run with their configuration."""
    return configured.pool if isinstance(configured, PoolRollout) else configured.machine_config


def labels(settings: Settings) -> dict[str, dict[str, str]]:
    """Return the labels that the stack gives, by node."""
    by_node: dict[str, dict[str, str]] = {}
    places = fabric_topology.labels(settings)
    for node in settings.nodes:
        node_labels = {SCALE_LABEL: "true"} if node.scale_client else {}
        if settings.scale_pods and node in settings.workers:
            node_labels |= {names.SCALE_CORE: ""}
        pool = settings.pool_with(node.name)
        if pool and pool.own_machine_config_pool:
            node_labels |= role(pool.machine_config_pool)
        if node.mig:
            node_labels |= {names.MIG_CONFIG: node.mig}
        if pool and isinstance(pool.gpu, DevicePluginSettings):
            node_labels |= {names.GPU_ACCELERATOR: "true"}
        if pool:
            node_labels |= {names.GPU_NODE: "true", **pool.selector, **pool.labels}
        elif settings.pools and node in settings.workers:
            node_labels |= {names.POOL: PLAIN}
        node_labels |= places.get(node.name, {})
        if node_labels:
            by_node[node.name] = node_labels
    return by_node


def _memlock(pool: Pool, version: Ignition, opts: pulumi.ResourceOptions, timeout: int | None = None) -> Memlock:
    """Declare the limit of locked memory; with a timeout it waits for the nodes by itself."""
    args = MemlockArgs(
        pool=pool.machine_config_pool,
        stack_mib=pool.tuning.stack_mib if pool.tuning else None,
        ignition_version=version,
        rollout_timeout=timeout,
    )
    return Memlock(_part("memlock", pool), args, opts=_with_former_name("memlock", pool, opts))


def _tuning(
    pool: Pool, tuning: TuningSettings, version: Ignition, timeouts: Timeouts, opts: pulumi.ResourceOptions
) -> list[KernelArguments | RailNames | KubeletConfig]:
    parts: list[KernelArguments | RailNames | KubeletConfig] = [
        KernelArguments(
            _part("kernel-arguments", pool),
            KernelArgumentsArgs(
                pool=pool.machine_config_pool,
                ignition_version=version,
                **fields_of(KernelTuning, tuning),
            ),
            opts=_with_former_name("kernel-arguments", pool, opts),
        )
    ]
    if tuning.rail_names:
        rails = RailNamesArgs(
            pool=pool.machine_config_pool,
            ignition_version=version,
            link_layer="InfiniBand" if isinstance(pool.fabric, InfiniBand) else "Ethernet",
            rails=topology.rails(pool.machine),
        )
        parts.append(RailNames(_part("rail-names", pool), rails, opts=_with_former_name("rail-names", pool, opts)))
    if tuning.kubelet:
        args = for_machine(
            pool.machine,
            tuning.kubelet.reserved,
            pool=pool.machine_config_pool,
            **fields_of(KubeletAlignment, tuning.kubelet),
            timeout=timeouts.object,
        )
        parts.append(KubeletConfig(_part("kubelet", pool), args, opts=_with_former_name("kubelet", pool, opts)))
    return parts
