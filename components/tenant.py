"""A namespace whose users may run RDMA jobs: account, role, binding and quota (R-3.4.3-3 to -7)."""

from typing import Annotated

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field, StringConstraints

from apis import kinds, names
from components.component import Component, stateful
from components.labels import labels
from components.model import DnsLabel, DnsName, Model

ACCOUNT = "mpi"
"""Name of the service account, the role and the binding in every tenant (R-3.4.3-3)."""

McsLabel = Annotated[str, StringConstraints(pattern=r"^s0:c[0-9]{1,4},c[0-9]{1,4}$")]


class IdRange(Model):
    """A block of user or group ids, as OpenShift gives one to every namespace."""

    start: int = Field(gt=0)
    size: int = Field(default=10_000, gt=0)

    def __contains__(self, number: int) -> bool:
        return self.start <= number < self.start + self.size

    def overlaps(self, other: "IdRange") -> bool:
        """Say whether the two blocks share an id."""
        return self.start < other.start + other.size and other.start < self.start + self.size

    def __str__(self) -> str:
        return f"{self.start}/{self.size}"


class TenantArgs(Model):
    """One tenant."""

    namespace: DnsLabel
    uid_range: IdRange = Field(description="unique per tenant; OpenShift keeps values that are there (E-17)")
    mcs: McsLabel = Field(description="SELinux level of the tenant's pods, unique per tenant")
    gpu_quota: int = Field(ge=0, description="GPUs that the tenant's pods may hold at once")
    scc_name: DnsName = Field(description="SCC that the account may use")
    protect: bool = Field(default=False, description="refuse to delete the namespace")


class Tenant(Component):
    """Namespace, ServiceAccount, Role, RoleBinding and ResourceQuota.

    Outputs: `namespace`, `account`; `ready`, namespace/account, known when the account may use the SCC.
    """

    namespace: pulumi.Output[str]
    account: pulumi.Output[str]
    ready: pulumi.Output[str]

    def __init__(self, name: str, args: TenantArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tenants:Tenant", name, args, opts)
        ours = labels(args.namespace, "tenant")
        namespace = k8s.core.v1.Namespace(
            f"{name}-namespace",
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=args.namespace,
                labels=ours,
                annotations={
                    names.SCC_UID_RANGE: str(args.uid_range),
                    names.SCC_SUPPLEMENTAL_GROUPS: str(args.uid_range),
                    names.SCC_MCS: args.mcs,
                },
            ),
            opts=self.child(**stateful(protect=args.protect)),
        )
        inside = namespace.metadata.name

        def meta(object_name: str) -> k8s.meta.v1.ObjectMetaArgs:
            return k8s.meta.v1.ObjectMetaArgs(name=object_name, namespace=inside, labels=ours)

        account = k8s.core.v1.ServiceAccount(f"{name}-account", metadata=meta(ACCOUNT), opts=self.child())
        role = k8s.rbac.v1.Role(
            f"{name}-role",
            metadata=meta(ACCOUNT),
            rules=[
                k8s.rbac.v1.PolicyRuleArgs(
                    api_groups=[kinds.SECURITY_CONTEXT_CONSTRAINTS.group],
                    resources=[kinds.SECURITY_CONTEXT_CONSTRAINTS.plural],
                    resource_names=[args.scc_name],
                    verbs=["use"],
                )
            ],
            opts=self.child(),
        )
        binding = k8s.rbac.v1.RoleBinding(
            f"{name}-binding",
            metadata=meta(ACCOUNT),
            role_ref=k8s.rbac.v1.RoleRefArgs(api_group=kinds.ROLE.group, kind=kinds.ROLE.kind, name=role.metadata.name),
            subjects=[
                k8s.rbac.v1.SubjectArgs(kind="ServiceAccount", name=account.metadata.name, namespace=inside),
            ],
            opts=self.child(),
        )
        quota = k8s.core.v1.ResourceQuota(
            f"{name}-quota",
            metadata=meta("gpus"),
            spec=k8s.core.v1.ResourceQuotaSpecArgs(hard={f"requests.{names.GPU_RESOURCE}": str(args.gpu_quota)}),
            opts=self.child(),
        )
        granted = pulumi.Output.all(binding.id, quota.id)
        self.outputs(
            namespace=inside,
            account=account.metadata.name,
            ready=granted.apply(lambda _: f"{args.namespace}/{ACCOUNT}"),
        )
