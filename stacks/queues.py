"""The queue layer: Kueue, and a queue for every tenant."""

from collections.abc import Mapping, Sequence

import pulumi

from apis import names
from components.kueue import Queues, QueuesArgs, TenantQueue, quota_of
from components.kueue_operator import KueueOperator, KueueOperatorArgs
from components.mpi_operator import MpiOperator
from components.tenant import Tenant
from stacks.gpu_settings import GpuOperatorSettings
from stacks.gpus import GPU_PRESENT
from stacks.operators import after, install
from stacks.platform import Settings


def operator(settings: Settings, mpi: Sequence[MpiOperator], opts: pulumi.ResourceOptions) -> list[KueueOperator]:
    """Declare Kueue where the environment has it.

    `mpi` comes first: Kueue starts for the kinds of jobs alone that are served by then.
    """
    wanted = settings.queues
    if wanted is None:
        return []
    needed: list[pulumi.Resource] = [*mpi]
    if wanted.cert_manager:
        needed.append(install("cert-manager", wanted.cert_manager, settings, opts))
    installed = install("kueue-operator", wanted.operator, settings, opts)
    return [KueueOperator("kueue", KueueOperatorArgs(), opts=after(opts, installed, *needed))]


def build(
    settings: Settings, kueue: Sequence[KueueOperator], teams: Mapping[str, Tenant], opts: pulumi.ResourceOptions
) -> list[Queues]:
    """Declare the queues, where the environment has them."""
    wanted = settings.queues
    if wanted is None:
        return []
    by_operator = isinstance(settings.gpu, GpuOperatorSettings)
    args = QueuesArgs(
        flavor=settings.profile.name,
        node_labels=GPU_PRESENT if by_operator else {names.GPU_ACCELERATOR: "true"},
        rdma=tuple(names.RDMA_PREFIX + resource for resource in settings.rdma_resources),
        tenants=tuple(
            TenantQueue(
                namespace=tenant.namespace,
                quota=quota_of(settings.profile, tenant.gpu_quota, wanted.launchers, settings.reserved),
            )
            for tenant in settings.tenants
        ),
        queue=wanted.queue,
        cohort=wanted.cohort,
        reclaim=wanted.reclaim,
        strategy=wanted.strategy,
    )
    return [Queues("queues", args, teams, flavor=settings.has_platform, opts=after(opts, *kueue))]
