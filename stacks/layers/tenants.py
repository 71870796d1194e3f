"""The security and tenant layer: the SCC, the namespaces whose accounts may use it, and what they have."""

from collections.abc import Mapping

import pulumi

from components.base.model import fields_of
from components.tenants.mpi_scc import MpiScc, MpiSccArgs
from components.tenants.priority_class import PriorityClass
from components.tenants.pull_secret import PullSecret, PullSecretArgs, RegistryAccount
from components.tenants.tenant import PodSecurity, Tenant, TenantArgs, TenantNamespace
from stacks.layers.operators import after
from stacks.resolved import instances
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
                scc_name=MpiSccArgs().scc_name if _rdma(settings, tenant) else None,
                pod_security=_pod_security(settings, tenant),
                queued=settings.queues is not None,
                protect=settings.protect,
            ),
            opts=opts,
        )
        for tenant in settings.tenants
    }


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
