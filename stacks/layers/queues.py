"""The queue layer: Kueue, and a queue for every tenant."""

from collections.abc import Mapping, Sequence

import pulumi

from components.base.model import fields_of
from components.operators.kueue_operator import READY_TIMES_SINCE, KueueOperator, KueueOperatorArgs, PodsReady
from components.queues.kueue import Flavor, QueuePolicy, Queues, QueuesArgs, TenantQueue
from components.tenants.tenant import Tenant
from core.apis import devices, names
from stacks.layers.gpus import GPU_PRESENT
from stacks.layers.operators import after, install
from stacks.resolved import quotas, topology
from stacks.resolved.versions import numbers, version_of
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.tenants import QueueSettings


def operator(
    settings: Settings, earlier: Sequence[pulumi.Resource], opts: pulumi.ResourceOptions
) -> list[KueueOperator]:
    """Declare Kueue where the environment has it.

    `earlier` has the operators of its kinds of jobs, as Kueue manages only those that are served when it starts, and
    cert-manager.
    """
    queues = settings.queues
    if queues is None:
        return []
    installed = install("kueue-operator", queues.operator, settings, opts)
    frameworks = (*KueueOperatorArgs().frameworks, *(("TrainJob",) if settings.trainer else ()))
    args = KueueOperatorArgs(
        installed=queues.operator.installed,
        frameworks=frameworks,
        pods_ready=pods_ready(queues),
        device_classes=_device_classes(settings),
        ready_timeout=settings.timeouts.operator,
    )
    return [KueueOperator("kueue", args, opts=after(opts, installed, *earlier))]


def pods_ready(queues: QueueSettings) -> PodsReady | None:
    """Return when a job gives its place back: what the settings say, or the defaults where the operator has times."""
    version = version_of(queues.operator)
    has_times = version is not None and numbers(version) >= READY_TIMES_SINCE
    return queues.pods_ready or (PodsReady() if has_times else None)


def _device_classes(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Return what claims count as: GPUs as nvidia.com/gpu, so that quotas are the same however pods get them."""
    by_claims = any(pool.by_claims for pool in settings.gpu_pools)
    in_domains = any(pool.joined_by_nvlink for pool in settings.gpu_pools)
    return {
        **({names.GPU_RESOURCE: (devices.GPU_CLASS,)} if by_claims else {}),
        **({devices.CHANNEL_RESOURCE: (devices.CHANNEL_CLASS,)} if in_domains else {}),
    }


def build(
    settings: Settings, kueue: Sequence[KueueOperator], teams: Mapping[str, Tenant], opts: pulumi.ResourceOptions
) -> list[Queues]:
    """Declare the queues, where the environment has them."""
    queues = settings.queues
    if queues is None:
        return []
    args = QueuesArgs(
        flavors=_flavors(settings),
        tenants=tuple(
            TenantQueue(namespace=tenant.namespace, quotas=quotas.of(tenant, queues.launchers, settings))
            for tenant in settings.tenants
        ),
        **fields_of(QueuePolicy, queues),
        timeout=settings.timeouts.object,
    )
    return [Queues("queues", args, teams, flavor=settings.has_platform, opts=after(opts, *kueue))]


def _flavors(settings: Settings) -> tuple[Flavor, ...]:
    """Return the flavors of the pools, after that of nodes without GPUs where launchers have such nodes."""
    # A queue with a Topology needs one in every flavor: else Kueue admits no pods without a request to its others.
    levels = () if settings.queues and settings.queues.topology else None
    plain = Flavor(name=quotas.PLAIN, node_labels={names.POOL: quotas.PLAIN}, levels=levels)
    return (*([plain] if settings.has_plain_workers else []), *(_flavor(pool, settings) for pool in settings.gpu_pools))


def _flavor(pool: Pool, settings: Settings) -> Flavor:
    levels = topology.levels(pool, settings) if settings.queues and settings.queues.topology else None
    with_gpus = GPU_PRESENT if isinstance(pool.gpu, GpuOperatorSettings) else {names.GPU_ACCELERATOR: "true"}
    # With levels Kueue uses only nodes that have their labels, which are the stack's own.
    labels = with_gpus if levels and not pool.declared else {**with_gpus, **pool.selector}
    return Flavor(
        name=pool.name,
        node_labels=labels,
        levels=levels,
        taints=pool.taints,
        rdma=tuple(names.RDMA_PREFIX + resource for resource in pool.rdma_resources),
    )
