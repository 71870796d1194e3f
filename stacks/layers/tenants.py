"""The security and tenant layer: the SCC, the namespaces whose accounts may use it, their data and images."""

from collections.abc import Mapping

import pulumi

from components.base.model import fields_of
from components.jobs.image_build import ImageBuild
from components.storage.data_set_lock import DataSetLock, DataSetLockArgs
from components.tenants.gpu_claims import GpuClaims, GpuClaimsArgs
from components.tenants.mpi_scc import MpiScc, MpiSccArgs
from components.tenants.priority_class import PriorityClass
from components.tenants.pull_secret import PullSecret, PullSecretArgs, RegistryAccount
from components.tenants.tenant import PodSecurity, Tenant, TenantArgs, TenantNamespace
from stacks.layers.operators import OfTenant, after
from stacks.resolved import instances, quotas
from stacks.resolved.locked_data import Locked
from stacks.settings.platform import Settings
from stacks.settings.tenants import TenantSettings


def constraints(settings: Settings, opts: pulumi.ResourceOptions) -> list[pulumi.Output[str]]:
    """Declare the SCC that RDMA needs; return its name, known when it can admit pods."""
    if not settings.uses_rdma:
        return []
    args = MpiSccArgs(base=settings.version.scc_base, protect=settings.protect)
    return [MpiScc("mpi-scc", args, opts=opts).scc_name]


def build(settings: Settings, opts: pulumi.ResourceOptions) -> dict[str, Tenant]:
    """Declare every tenant; return the tenants by namespace."""
    return {
        tenant.namespace: Tenant(
            tenant.namespace,
            TenantArgs(
                **fields_of(TenantNamespace, tenant),
                gpu_quota=settings.most_gpus(tenant.namespace),
                instance_quota=instances.limits(tenant.namespace, settings),
                claimed=_claimed(settings),
                channels=quotas.channels(tenant, settings),
                scc_name=MpiSccArgs().scc_name if _rdma(settings, tenant) else None,
                pod_security=_pod_security(settings, tenant),
                queued=settings.queues is not None,
                protect=settings.protect,
            ),
            opts=opts,
        )
        for tenant in settings.tenants
    }


def gpu_claims(settings: Settings, teams: Mapping[str, Tenant], opts: pulumi.ResourceOptions) -> dict[str, GpuClaims]:
    """Declare by what each tenant's pods claim GPUs, where they do; return the templates by namespace."""
    if not _claimed(settings):
        return {}
    most = max(pool.machine.gpus for pool in settings.gpu_pools)
    return {
        namespace: GpuClaims(
            f"{namespace}-gpu-claims", GpuClaimsArgs(namespace=namespace, most=most), opts=after(opts, team)
        )
        for namespace, team in teams.items()
    }


def _claimed(settings: Settings) -> bool:
    return any(pool.by_claims for pool in settings.gpu_pools)


def _rdma(settings: Settings, tenant: TenantSettings) -> bool:
    return settings.uses_rdma and tenant.rdma


def _pod_security(settings: Settings, tenant: TenantSettings) -> PodSecurity | None:
    if not settings.version.pod_security:
        return None
    return "privileged" if _rdma(settings, tenant) else "restricted"


def priority_classes(settings: Settings, opts: pulumi.ResourceOptions) -> list[PriorityClass]:
    """Declare the priority classes."""
    return [
        PriorityClass(f"{priority_class.class_name}-priority", priority_class, opts=opts)
        for priority_class in settings.priority_classes
    ]


def pull_secrets(
    settings: Settings,
    teams: Mapping[str, Tenant],
    accounts: pulumi.Output[dict[str, RegistryAccount]],
    opts: pulumi.ResourceOptions,
) -> dict[str, PullSecret]:
    """Declare the registries' accounts in every namespace, where the environment has them; return them by namespace."""
    secret = settings.pull_secret
    if secret is None:
        return {}
    return {
        namespace: PullSecret(
            f"{namespace}-registries",
            PullSecretArgs(namespace=namespace, secret_name=secret.name, protect=settings.protect),
            accounts,
            opts=after(opts, team),
        )
        for namespace, team in teams.items()
    }


def builds(
    settings: Settings,
    teams: Mapping[str, Tenant],
    secrets: Mapping[str, PullSecret],
    opts: pulumi.ResourceOptions,
) -> list[OfTenant]:
    """Declare the builds, each after its tenant and the accounts there; return the images' names.

    A name is known when the image is there, if it is built at once, else when it can be built.
    """
    secret = settings.pull_secret.name if settings.pull_secret else None
    registry = settings.version.registry
    return [
        OfTenant(
            image_build.tenant,
            ImageBuild(
                f"{image_build.tenant}-{image_build.name}",
                image_build.arguments(registry, secret).model_copy(update={"build_timeout": settings.timeouts.build}),
                opts=after(
                    opts, *(parts[image_build.tenant] for parts in (teams, secrets) if image_build.tenant in parts)
                ),
            ).image,
        )
        for image_build in settings.builds
    ]


def data_sets(
    locks: Locked, teams: Mapping[str, Tenant], opts: pulumi.ResourceOptions
) -> dict[tuple[str, str], DataSetLock]:
    """Declare what is locked; return it by namespace and name."""
    return {
        (namespace, name): DataSetLock(
            # No namespace has a dot: no two tenants get resources of one name.
            f"{namespace}.{name}-lock",
            DataSetLockArgs(namespace=namespace, lock=lock),
            teams[namespace].namespace,
            opts=opts,
        )
        for (namespace, name), lock in locks.items()
    }
