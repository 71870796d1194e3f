"""The queue layer: Kueue, and a queue for every tenant."""

from collections.abc import Mapping, Sequence

import pulumi

from apis import names
from components.kueue import QueuePolicy, Queues, QueuesArgs, TenantQueue
from components.kueue_operator import KueueOperator, KueueOperatorArgs
from components.model import fields_of
from components.tenant import Tenant
from stacks import instances, topology
from stacks.fabric import GPU_NODE
from stacks.gpu_settings import GpuOperatorSettings
from stacks.gpus import GPU_PRESENT
from stacks.operators import after, install
from stacks.platform import Settings


def operator(
    settings: Settings, earlier: Sequence[pulumi.Resource], opts: pulumi.ResourceOptions
) -> list[KueueOperator]:
    """Declare Kueue where the environment has it.

    `earlier` has the operators of its kinds of jobs, as Kueue manages only those that are served when it starts, and
    cert-manager.
    """
    wanted = settings.queues
    if wanted is None:
        return []
    needed = [*earlier]
    if wanted.cert_manager:
        needed.append(install("cert-manager", wanted.cert_manager, settings, opts))
    installed = install("kueue-operator", wanted.operator, settings, opts)
    frameworks = (*KueueOperatorArgs().frameworks, *(("TrainJob",) if settings.trainer else ()))
    args = KueueOperatorArgs(
        installed=wanted.operator.installed, frameworks=frameworks, ready_timeout=settings.timeouts.kueue
    )
    return [KueueOperator("kueue", args, opts=after(opts, installed, *needed))]


def build(
    settings: Settings, kueue: Sequence[KueueOperator], teams: Mapping[str, Tenant], opts: pulumi.ResourceOptions
) -> list[Queues]:
    """Declare the queues, where the environment has them."""
    wanted = settings.queues
    if wanted is None:
        return []
    with_gpus = GPU_PRESENT if isinstance(settings.gpu, GpuOperatorSettings) else {names.GPU_ACCELERATOR: "true"}
    levels = topology.levels(settings) if wanted.topology else ()
    (pool,) = settings.gpu_pools
    args = QueuesArgs(
        flavor=pool.name,
        # With levels Kueue uses only nodes that have their labels, which are the stack's own.
        node_labels=with_gpus if levels else {**with_gpus, **GPU_NODE},
        levels=levels,
        rdma=tuple(names.RDMA_PREFIX + resource for resource in settings.rdma_resources),
        tenants=tuple(
            TenantQueue(
                namespace=tenant.namespace,
                quota=instances.quota(tenant, wanted.launchers, pool),
            )
            for tenant in settings.tenants
        ),
        **fields_of(QueuePolicy, wanted),
        timeout=settings.timeouts.queue,
    )
    return [Queues("queues", args, teams, flavor=settings.has_platform, opts=after(opts, *kueue))]
