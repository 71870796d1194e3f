"""The host layer: what the nodes must be before anything runs on them."""

import pulumi

from apis import names
from components.kernel_arguments import KernelArguments, KernelArgumentsArgs
from components.kubelet_config import KubeletConfig, for_machine
from components.machine_config import Ignition
from components.memlock import Memlock, MemlockArgs
from components.node_labels import NodeLabels, NodeLabelsArgs
from components.node_pool import BUILT_IN, NodePool, NodePoolArgs
from components.pool_rollout import PoolRollout, PoolRolloutArgs
from components.rail_names import RailNames, RailNamesArgs
from hardware import topology
from stacks.fabric_settings import InfiniBand
from stacks.gpu_settings import DevicePluginSettings
from stacks.node_settings import KubeletSettings, TuningSettings
from stacks.operators import after
from stacks.platform import Settings

SCALE_LABEL = "scale"


def build(settings: Settings, opts: pulumi.ResourceOptions) -> list[Memlock | PoolRollout]:
    """Label and configure the nodes; return what waits until their pool runs with all of it."""
    _label(settings, opts)
    version = settings.version.ignition_version
    if version is None:
        return []
    if settings.machine_config_pool not in BUILT_IN:
        opts = after(opts, _pool(settings, opts))
    if settings.tuning is None:
        return [_memlock(settings, version, opts)] if settings.uses_rdma else []
    parts = [
        *([_memlock(settings, version, opts)] if settings.uses_rdma else []),
        *_tuned(settings, settings.tuning, version, opts),
    ]
    wanted = {name: digest for part in parts for name, digest in part.parts.items()}
    args = PoolRolloutArgs(pool=settings.machine_config_pool, parts=wanted)
    return [PoolRollout("nodes", args, opts=after(opts, *parts))]


def known(configured: Memlock | PoolRollout) -> pulumi.Output[str]:
    """Return a name that is known when the nodes run with their configuration."""
    return configured.pool if isinstance(configured, PoolRollout) else configured.machine_config


def _pool(settings: Settings, opts: pulumi.ResourceOptions) -> NodePool:
    machines = tuple(node.name for node in settings.gpu_nodes)
    args = NodePoolArgs(pool=settings.machine_config_pool, nodes=machines, protect=settings.protect)
    return NodePool("gpu-pool", args, opts=opts)


def _label(settings: Settings, opts: pulumi.ResourceOptions) -> None:
    clients = tuple(node.name for node in settings.nodes if node.scale_client)
    if clients:
        NodeLabels("scale-clients", NodeLabelsArgs(nodes=clients, labels={SCALE_LABEL: "true"}), opts=opts)
    if isinstance(settings.gpu, DevicePluginSettings):
        machines = tuple(node.name for node in settings.gpu_nodes)
        NodeLabels("gpu-nodes", NodeLabelsArgs(nodes=machines, labels={names.GPU_ACCELERATOR: "true"}), opts=opts)


def _memlock(settings: Settings, version: Ignition, opts: pulumi.ResourceOptions) -> Memlock:
    waits = {} if settings.tuning is None else {"rollout_timeout": None}
    args = MemlockArgs(pool=settings.machine_config_pool, ignition_version=version, **waits)
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
                iommu_passthrough=tuning.iommu_passthrough,
                nouveau=tuning.nouveau,
                selinux=tuning.selinux,
                further=tuning.further_arguments,
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
        topology_policy=kubelet.topology_policy,
        topology_scope=kubelet.topology_scope,
        memory_manager=kubelet.memory_manager,
    )
    return KubeletConfig("kubelet", args, opts=opts)
