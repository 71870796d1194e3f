"""The security and tenant layer: the SCC and the namespaces whose accounts may use it."""

import pulumi

from components.mpi_scc import MpiScc, MpiSccArgs
from components.tenant import Tenant, TenantArgs
from stacks.settings import Settings


def build(settings: Settings, opts: pulumi.ResourceOptions) -> dict[str, Tenant]:
    """Declare the SCC and every tenant; return the tenants by namespace."""
    scc = MpiSccArgs(protect=settings.protect)
    MpiScc("mpi-scc", scc, opts=opts)
    return {
        tenant.namespace: Tenant(
            tenant.namespace,
            TenantArgs(
                namespace=tenant.namespace,
                uid_range=tenant.uid_range,
                mcs=tenant.mcs,
                gpu_quota=tenant.gpu_quota,
                scc_name=scc.scc_name,
                protect=settings.protect,
            ),
            opts=opts,
        )
        for tenant in settings.tenants
    }
