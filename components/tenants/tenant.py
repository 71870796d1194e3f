"""A namespace whose users may run RDMA jobs: account, role, binding and quota."""

from typing import Annotated, Literal, Self

import pulumi
import pulumi_kubernetes as k8s
from pydantic import AfterValidator, Field, StringConstraints, model_validator

from components.base import rights
from components.base.component import Component, stateful
from components.base.model import DnsLabel, DnsName, MigSize, Model, Quantity
from core.apis import devices, names
from core.apis.names import labels

ACCOUNT = "mpi"
"""Name of the service account, the role and the binding in every tenant."""

_CATEGORIES = 1024
"""Of SELinux: c0 to c1023."""


def _mcs(level: str) -> str:
    first, second = sorted((int(part) for part in level.removeprefix("s0:c").split(",c")), reverse=True)
    if first == second or first >= _CATEGORIES:
        raise ValueError(
            f"{level} does not set its pods apart; give two different categories of c0 to c{_CATEGORIES - 1}"
        )
    return f"s0:c{first},c{second}"


McsLabel = Annotated[str, StringConstraints(pattern=r"^s0:c[0-9]{1,4},c[0-9]{1,4}$"), AfterValidator(_mcs)]
"""An SELinux level of two categories, the higher one first as OpenShift writes them: their order has no meaning."""


LAST_ID = 2**31 - 1
"""The largest user or group id that Kubernetes takes for a pod."""


class IdRange(Model):
    """A block of user or group ids, as OpenShift gives one to every namespace."""

    start: int = Field(gt=0, description="first id")
    size: int = Field(default=10_000, gt=0, description="ids in the block; as many as OpenShift gives")

    @model_validator(mode="after")
    def _within_kubernetes(self) -> Self:
        if self.start + self.size - 1 > LAST_ID:
            raise ValueError(f"{self} goes beyond {LAST_ID}, the last id that a pod can have; lower start or size")
        return self

    def __contains__(self, number: int) -> bool:
        return self.start <= number < self.start + self.size

    def overlaps(self, other: "IdRange") -> bool:
        """Say whether the two blocks share an id."""
        return self.start < other.start + other.size and other.start < self.start + self.size

    def __str__(self) -> str:
        return f"{self.start}/{self.size}"


PodSecurity = Literal["privileged", "restricted"]
"""Level of the pod security standards; `baseline` is missing, for it is no use here: it forbids IPC_LOCK, too."""


class ContainerResources(Model):
    """Resources of containers that declare none: the launcher's and the operators' helpers."""

    cpu: Quantity = Field(description="request and limit, CPUs")
    memory: Quantity = Field(description="request and limit, bytes, e.g. 1Gi")


class TenantNamespace(Model):
    """The namespace of one tenant, as settings and the component have it."""

    namespace: DnsLabel = Field(description="name of the tenant, which jobs and builds give as `tenant`")
    uid_range: IdRange = Field(description="unique per tenant; OpenShift keeps existing values")
    mcs: McsLabel = Field(description="SELinux level of its pods, unique per tenant")
    quota_name: DnsName = Field(
        default="gpus", description="name of the ResourceQuota; an existing one of GPUs keeps its own"
    )
    container_resources: ContainerResources | None = Field(
        default=None, description="for containers that declare none; None: no LimitRange"
    )
    isolated: bool = Field(
        default=False,
        description="refuse connections from other namespaces. It applies to the pod network only: RDMA and secondary "
        "networks are separated by partitions or VLANs of the fabric",
    )
    reachable_from: tuple[DnsLabel, ...] = Field(
        default=(),
        description="namespaces that may still connect, e.g. for monitoring; only if isolated. They are selected by a "
        "label that namespaces have from Kubernetes 1.21 on",
    )

    @model_validator(mode="after")
    def _reached_if_isolated(self) -> Self:
        if self.reachable_from and not self.isolated:
            raise ValueError(
                f"reachable_from {self.reachable_from[0]} has no effect in {self.namespace}, which is not isolated; "
                "set isolated, or leave it out"
            )
        return self


class TenantArgs(TenantNamespace):
    """One tenant."""

    gpu_quota: int = Field(ge=0, description="GPUs that the tenant's pods may hold at once")
    instance_quota: dict[MigSize, int] = Field(
        default={}, description="MIG instances that they may hold at once, by every size that the nodes have"
    )
    claimed: bool = Field(
        default=False,
        description="its pods get GPUs by claims, and none by nvidia.com/gpu: the quota counts devices by their class",
    )
    channels: int | None = Field(
        default=None,
        ge=0,
        description="IMEX channels, one for each pod of a ComputeDomain, that it may hold at once; None: the cluster "
        "has no ComputeDomains",
    )
    scc_name: DnsName | None = Field(
        description="SCC that the account may use; None: those of every account, where no pod requests RDMA"
    )
    queued: bool = Field(
        default=False,
        description="Kueue manages jobs here that name a queue: the label that Red Hat's operator requires",
    )
    pod_security: PodSecurity | None = Field(
        default=None,
        description="level that the API server enforces; IPC_LOCK needs privileged, jobs without it run at restricted; "
        "warnings and audit are always of restricted. None: no labels, as before 4.11",
    )
    protect: bool = Field(default=False, description="refuse to delete the namespace")


class Tenant(Component):
    """Namespace, ServiceAccount and ResourceQuota; where wanted, Role and RoleBinding, LimitRange and NetworkPolicy.

    Outputs: `namespace`, `account`; `ready`, namespace/account, known when the account may use its SCC and all bounds
    are there.
    """

    namespace: pulumi.Output[str]
    account: pulumi.Output[str]
    ready: pulumi.Output[str]

    def __init__(self, name: str, args: TenantArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tenants:Tenant", name, args, opts)
        own_labels = labels(args.namespace, "tenant")
        namespace = k8s.core.v1.Namespace(
            f"{name}-namespace",
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=args.namespace,
                labels={
                    **own_labels,
                    **_pod_security(args.pod_security),
                    **({names.KUEUE_MANAGED: "true"} if args.queued else {}),
                },
                annotations={
                    names.SCC_UID_RANGE: str(args.uid_range),
                    names.SCC_SUPPLEMENTAL_GROUPS: str(args.uid_range),
                    names.SCC_MCS: args.mcs,
                },
            ),
            opts=self.child(**stateful(protect=args.protect)),
        )
        inside = namespace.metadata.name

        def meta(object_name: str) -> "k8s.meta.v1.ObjectMetaArgs":
            return k8s.meta.v1.ObjectMetaArgs(name=object_name, namespace=inside, labels=own_labels)

        account = k8s.core.v1.ServiceAccount(f"{name}-account", metadata=meta(ACCOUNT), opts=self.child())
        quota = k8s.core.v1.ResourceQuota(
            f"{name}-quota",
            metadata=meta(args.quota_name),
            spec=k8s.core.v1.ResourceQuotaSpecArgs(hard=_quotas(args)),
            opts=self.child(),
        )
        resources: list[pulumi.CustomResource] = []
        if args.scc_name is not None:
            use = rights.use_of(args.scc_name)
            resources.append(rights.grant(self, name, meta(ACCOUNT), use, account))
        if args.container_resources is not None:
            limits = _limits(args.container_resources)
            resources.append(
                k8s.core.v1.LimitRange(f"{name}-limits", metadata=meta("containers"), spec=limits, opts=self.child())
            )
        if args.isolated:
            isolation = _isolation(args.reachable_from)
            resources.append(
                k8s.networking.v1.NetworkPolicy(
                    f"{name}-isolation", metadata=meta("tenant-only"), spec=isolation, opts=self.child()
                )
            )
        granted = pulumi.Output.all(account.id, quota.id, *(item.id for item in resources))
        self.outputs(
            namespace=inside,
            account=account.metadata.name,
            ready=granted.apply(lambda _: f"{args.namespace}/{ACCOUNT}"),
        )


def _pod_security(enforced: PodSecurity | None) -> dict[str, str]:
    """Return the labels; OpenShift would otherwise set the enforced level by itself, from the account's SCCs."""
    if enforced is None:
        return {}
    levels = {"enforce": enforced, "audit": "restricted", "warn": "restricted"}
    return {names.POD_SECURITY_SYNC: "false", **{names.POD_SECURITY + mode: level for mode, level in levels.items()}}


def _quotas(args: TenantArgs) -> dict[str, str]:
    """Return what the namespace's pods may hold of each resource of GPUs, and what claims may hold of each class.

    A quota of nvidia.com/gpu counts no claims, so a class that the tenant has nothing of has a quota of 0.
    """
    amounts = {names.GPU_RESOURCE: 0 if args.claimed else args.gpu_quota}
    amounts |= {f"{names.MIG_PREFIX}{size}": amount for size, amount in args.instance_quota.items()}
    classes: dict[str, int] = {}
    if args.claimed:
        classes |= {devices.GPU_CLASS: args.gpu_quota, devices.MIG_CLASS: 0, devices.VFIO_CLASS: 0}
    if args.channels is not None:
        classes |= {devices.CHANNEL_CLASS: args.channels, devices.DAEMON_CLASS: 0}
    return {
        **{f"requests.{name}": str(amount) for name, amount in amounts.items()},
        **{f"{name}{devices.QUOTA}": str(amount) for name, amount in classes.items()},
    }


def _limits(resources: ContainerResources) -> "k8s.core.v1.LimitRangeSpecArgs":
    amounts = resources.model_dump()
    item = k8s.core.v1.LimitRangeItemArgs(type="Container", default=amounts, default_request=amounts)
    return k8s.core.v1.LimitRangeSpecArgs(limits=[item])


def _isolation(reachable_from: tuple[str, ...]) -> "k8s.networking.v1.NetworkPolicySpecArgs":
    """Return a policy for all pods: connections come from the same namespace (MPI, NCCL) and the named ones."""
    api, meta = k8s.networking.v1, k8s.meta.v1
    within = api.NetworkPolicyPeerArgs(pod_selector=meta.LabelSelectorArgs())
    others = [
        api.NetworkPolicyPeerArgs(namespace_selector=meta.LabelSelectorArgs(match_labels={names.NAMESPACE_NAME: other}))
        for other in reachable_from
    ]
    return api.NetworkPolicySpecArgs(
        pod_selector=meta.LabelSelectorArgs(),
        policy_types=["Ingress"],
        ingress=[api.NetworkPolicyIngressRuleArgs(from_=[within, *others])],
    )
