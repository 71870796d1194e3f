"""The host layer: what the nodes must be before anything runs on them."""

from collections.abc import Mapping

import pulumi

from apis import names
from components.kernel_arguments import KernelArguments, KernelArgumentsArgs, KernelTuning
from components.kernel_devel import KernelDevel, KernelDevelArgs
from components.kubelet_config import KubeletAlignment, KubeletConfig, for_machine
from components.machine_config import Ignition
from components.memlock import Memlock, MemlockArgs
from components.model import fields_of
from components.node_labels import NodeLabels, NodeLabelsArgs
from components.node_pool import BUILT_IN, NodePool, NodePoolArgs, role
from components.pool_rollout import PoolRollout, PoolRolloutArgs
from components.rail_names import RailNames, RailNamesArgs
from components.timeouts import LONGEST
from hardware import topology
from stacks import topology as fabric_topology
from stacks.fabric_settings import InfiniBand
from stacks.gpu_settings import DevicePluginSettings
from stacks.node_settings import KubeletSettings, TuningSettings
from stacks.operators import after
from stacks.platform import Settings

SCALE_LABEL = "scale"


def label(settings: Settings, opts: pulumi.ResourceOptions) -> NodeLabels:
    """Label the nodes."""
    return NodeLabels("node-labels", NodeLabelsArgs(labels=labels(settings)), opts=opts)


def build(settings: Settings, labelled: NodeLabels, opts: pulumi.ResourceOptions) -> list[Memlock | PoolRollout]:
    """Configure the nodes; return what waits until their pool runs with all of it."""
    version = settings.version.ignition_version
    if version is None or settings.cluster.hosted:
        return []
    if settings.machine_config_pool not in BUILT_IN:
        at_once = {"at_once": settings.tuning.at_once} if settings.tuning else {}
        pool = NodePoolArgs(pool=settings.machine_config_pool, protect=settings.protect, **at_once)
        opts = after(opts, labelled, NodePool("gpu-pool", pool, opts=opts))
    headers = _headers(settings, version, opts)
    if settings.tuning is None and not headers:
        return [_memlock(settings, version, opts)] if settings.uses_rdma else []
    parts = [
        *([_memlock(settings, version, opts, awaited=False)] if settings.uses_rdma else []),
        *(_tuned(settings, settings.tuning, version, opts) if settings.tuning else []),
        *headers.values(),
    ]
    awaited = {name: digest for part in parts for name, digest in part.parts.items()}
    args = PoolRolloutArgs(pool=settings.machine_config_pool, parts=awaited, rollout_timeout=settings.rollout_seconds)
    return [PoolRollout("nodes", args, opts=after(opts, *parts)), *_others(settings, headers, opts)]


def _headers(settings: Settings, version: Ignition, opts: pulumi.ResourceOptions) -> dict[str, KernelDevel]:
    """Declare the kernel's headers for the pools of all workers, where Storage Scale builds its module; by role."""
    if not settings.scale_pods:
        return {}
    pools = {settings.pool_of(node) for node in settings.workers}
    # A pool of one's own takes the workers' configuration as well.
    roles = sorted(pools & {*BUILT_IN}) if BUILT_IN[1] in pools else sorted(pools)
    return {
        role: KernelDevel(f"kernel-devel-{role}", KernelDevelArgs(pool=role, ignition_version=version), opts=opts)
        for role in roles
    }


def _others(settings: Settings, headers: Mapping[str, KernelDevel], opts: pulumi.ResourceOptions) -> list[PoolRollout]:
    """Return what waits for the pools of workers without GPUs."""
    found = []
    for pool, made in headers.items():
        nodes = sum(settings.pool_of(node) == pool for node in settings.workers)
        if nodes and pool != settings.machine_config_pool:
            seconds = min(nodes * settings.reboot_minutes * 60, LONGEST)
            args = PoolRolloutArgs(pool=pool, parts=dict(made.parts), rollout_timeout=seconds)
            found.append(PoolRollout(f"nodes-{pool}", args, opts=after(opts, made)))
    return found


def known(configured: Memlock | PoolRollout) -> pulumi.Output[str]:
    """Return a name that is known when the nodes run with their configuration."""
    return configured.pool if isinstance(configured, PoolRollout) else configured.machine_config


def labels(settings: Settings) -> dict[str, dict[str, str]]:
    """Return the labels that the stack gives, by node."""
    found: dict[str, dict[str, str]] = {}
    places = fabric_topology.labels(settings)
    for node in settings.nodes:
        wanted = {SCALE_LABEL: "true"} if node.scale_client else {}
        if settings.scale_pods and node in settings.workers:
            wanted |= {names.SCALE_CORE: ""}
        if node.profile and settings.machine_config_pool not in BUILT_IN:
            wanted |= role(settings.machine_config_pool)
        if node.mig:
            wanted |= {names.MIG_CONFIG: node.mig}
        if node.profile and isinstance(settings.gpu, DevicePluginSettings):
            wanted |= {names.GPU_ACCELERATOR: "true"}
        if node.profile:
            wanted |= {names.GPU_NODE: "true"}
        wanted |= places.get(node.name, {})
        if wanted:
            found[node.name] = wanted
    return found


def _memlock(settings: Settings, version: Ignition, opts: pulumi.ResourceOptions, *, awaited: bool = True) -> Memlock:
    timeout = settings.rollout_seconds if awaited else None
    args = MemlockArgs(pool=settings.machine_config_pool, ignition_version=version, rollout_timeout=timeout)
    return Memlock("memlock", args, opts=opts)


def _tuned(
    settings: Settings, tuning: TuningSettings, version: Ignition, opts: pulumi.ResourceOptions
) -> list[KernelArguments | RailNames | KubeletConfig]:
    pool = settings.machine_config_pool
    made: list[KernelArguments | RailNames | KubeletConfig] = [
        KernelArguments(
            "kernel-arguments",
            KernelArgumentsArgs(
                pool=pool,
                ignition_version=version,
                **fields_of(KernelTuning, tuning),
            ),
            opts=opts,
        )
    ]
    if tuning.rail_names:
        rails = RailNamesArgs(
            pool=pool,
            ignition_version=version,
            link_layer="InfiniBand" if isinstance(settings.fabric, InfiniBand) else "Ethernet",
            rails=topology.rails(settings.profile),
        )
        made.append(RailNames("rail-names", rails, opts=opts))
    if tuning.kubelet:
        made.append(_kubelet(settings, tuning.kubelet, opts))
    return made


def _kubelet(settings: Settings, kubelet: KubeletSettings, opts: pulumi.ResourceOptions) -> KubeletConfig:
    args = for_machine(
        settings.profile,
        kubelet.reserved,
        pool=settings.machine_config_pool,
        **fields_of(KubeletAlignment, kubelet),
        timeout=settings.timeouts.kubelet_config,
    )
    return KubeletConfig("kubelet", args, opts=opts)
