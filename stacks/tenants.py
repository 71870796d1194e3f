"""The security and tenant layer: the SCC, the namespaces whose accounts may use it, and what they have."""

import pulumi

from components.mpi_scc import MpiScc, MpiSccArgs
from components.priority_class import PriorityClass
from components.pull_secret import PullSecret, PullSecretArgs, RegistryAccount
from components.tenant import PodSecurity, Tenant, TenantArgs
from stacks.operators import after
from stacks.platform import Settings


def build(settings: Settings, opts: pulumi.ResourceOptions) -> dict[str, Tenant]:
    """Declare the SCC, where RDMA wants it, and every tenant; return the tenants by namespace."""
    scc = MpiSccArgs(base=settings.version.scc_base, protect=settings.protect) if settings.uses_rdma else None
    if scc:
        MpiScc("mpi-scc", scc, opts=opts)
    return {
        tenant.namespace: Tenant(
            tenant.namespace,
            TenantArgs(
                namespace=tenant.namespace,
                uid_range=tenant.uid_range,
                mcs=tenant.mcs,
                gpu_quota=settings.most_gpus(tenant),
                scc_name=scc.scc_name if scc else None,
                pod_security=_pod_security(settings),
                container_resources=tenant.container_resources,
                isolated=tenant.isolated,
                reachable_from=tenant.reachable_from,
                queued=settings.queues is not None,
                protect=settings.protect,
            ),
            opts=opts,
        )
        for tenant in settings.tenants
    }


def _pod_security(settings: Settings) -> PodSecurity | None:
    if not settings.version.pod_security:
        return None
    return "privileged" if settings.uses_rdma else "restricted"


def shared(
    settings: Settings,
    teams: dict[str, Tenant],
    accounts: pulumi.Output[dict[str, RegistryAccount]] | None,
    opts: pulumi.ResourceOptions,
) -> list[pulumi.Output[str]]:
    """Declare priority classes, and the registries' accounts in every namespace; return their names."""
    classes = [
        PriorityClass(f"{each.class_name}-priority", each, opts=opts).class_name for each in settings.priority_classes
    ]
    secret = settings.pull_secret
    if secret is None or accounts is None:
        return classes
    secrets = [
        PullSecret(
            f"{namespace}-registries",
            PullSecretArgs(namespace=namespace, secret_name=secret.name, protect=settings.protect),
            accounts,
            opts=after(opts, team),
        ).secret_name
        for namespace, team in teams.items()
    ]
    return [*classes, *secrets]
