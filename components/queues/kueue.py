"""Queues of jobs: a job starts when all its pods have room, and none of it before.

Kueue admits a job only if its queue has a quota of every resource that it asks for. So the quotas cover CPUs, memory,
GPUs and every RDMA resource of the platform; a resource that is forgotten keeps jobs waiting for ever.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

import pulumi
from pulumi_kubernetes import meta
from pydantic import Field, StringConstraints, model_validator

from components.base import waits
from components.base.component import Component, CustomObject
from components.base.model import DnsLabel, DnsName, Model, Seconds
from components.base.scheduling import (
    MOST_LEVELS,
    Taint,
    Toleration,
    TopologyLevel,
    distinct,
    topology_name,
    topology_spec,
)
from components.base.timeouts import DEFAULTS
from components.queues.quota import Quota
from core.apis import kinds, names
from core.apis.names import labels
from core.wording import duplicates

RdmaResource = Annotated[str, StringConstraints(pattern=r"^rdma/[A-Za-z0-9_.-]{1,63}$")]


class TenantQueue(Model):
    """The queue of one tenant."""

    namespace: DnsLabel = Field(description="of the tenant; also the name of its ClusterQueue")
    quotas: dict[DnsName, Quota] = Field(description="what its jobs may hold, by flavor")


class QueuePolicy(Model):
    """How jobs queue, as settings and the component have it."""

    queue: DnsLabel = Field(default="jobs", description="name of every tenant's LocalQueue, for the jobs' label")
    cohort: DnsName | None = Field(
        default=None, description="cohort whose tenants lend each other idle quota; None: they do not"
    )
    reclaim: Literal["Never", "LowerPriority", "Any"] = Field(
        default="Never",
        description="whose jobs are preempted when a tenant reclaims what it lent; Never waits for them",
    )
    preempt: Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"] = Field(
        default="Never",
        description="which running jobs of the same tenant a waiting job preempts, by their priority classes: they are "
        "suspended, and start again when there is room. Never waits for them",
    )
    strategy: Literal["BestEffortFIFO", "StrictFIFO"] = Field(
        default="BestEffortFIFO",
        description="whether a job that does not fit lets later ones pass (BestEffortFIFO) or blocks them",
    )

    @model_validator(mode="after")
    def _lent_before_reclaimed(self) -> Self:
        if self.reclaim != "Never" and self.cohort is None:
            raise ValueError(f"reclaim {self.reclaim} has no effect without a cohort, in which tenants lend; name one")
        return self


class Flavor(Model):
    """Nodes of one kind, which have a ResourceFlavor."""

    name: DnsName = Field(description="of the kind of nodes: a pool, or the machine")
    node_labels: dict[str, str] = Field(
        min_length=1, max_length=8, description="labels of those machines; Kueue gives them to the jobs' pods"
    )
    tolerations: tuple[Toleration, ...] = Field(
        default=(), max_length=8, description="taints of those machines that admitted pods tolerate"
    )
    taints: tuple[Taint, ...] = Field(
        default=(), max_length=8, description="taints of those machines that pods must tolerate themselves to get it"
    )
    rdma: tuple[RdmaResource, ...] = Field(default=(), description="RDMA resources that those machines offer")
    levels: Annotated[tuple[TopologyLevel, ...], Field(max_length=MOST_LEVELS - 1)] | None = Field(
        default=None,
        description="levels of the fabric above the hosts, widest first, `[]` for hosts alone; jobs are then admitted "
        "only when their pods fit on nodes as they are. None: by quotas alone",
    )

    @property
    def flavor_name(self) -> str:
        """Name of the ResourceFlavor: another one with levels, for a flavor that has some cannot be changed."""
        return self.name if self.levels is None else f"{self.name}-{topology_name(self.levels)}"


class QueuesArgs(QueuePolicy):
    """Queues of all tenants over machines of one or more kinds."""

    flavors: tuple[Flavor, ...] = Field(
        min_length=1, description="kinds of nodes; Kueue takes the first that has room for a pod's requests and labels"
    )
    tenants: tuple[TenantQueue, ...] = Field(description="those of this stack")
    timeout: Seconds = Field(default=DEFAULTS.object, description="seconds until a queue is active")

    @model_validator(mode="after")
    def _quotas_match_flavors(self) -> Self:
        for field, used in (
            ("tenants", (tenant.namespace for tenant in self.tenants)),
            ("flavors", (flavor.name for flavor in self.flavors)),
        ):
            if repeated := duplicates(used):
                raise ValueError(f"{field}: {repeated[0]} is given twice; give each its own")
        for flavor in self.flavors:
            if problem := distinct(flavor.levels or ()):
                raise ValueError(problem)
        if len({flavor.levels is None for flavor in self.flavors}) > 1:
            without = next(flavor.name for flavor in self.flavors if flavor.levels is None)
            raise ValueError(
                f"flavors: levels of {without} are None, and others have some: Kueue then admits no pods without a "
                "topology request to the others; give it (), the hosts alone"
            )
        for tenant in self.tenants:
            if missing := [flavor.name for flavor in self.flavors if flavor.name not in tenant.quotas]:
                raise ValueError(f"tenants: {tenant.namespace} has no quota of {missing[0]}; give it, 0 for none")
            for flavor in self.flavors:
                if double := sorted(tenant.quotas[flavor.name].further.keys() & {*_OWN, *flavor.rdma}):
                    raise ValueError(
                        f"tenants: further {double[0]} of {tenant.namespace} has a field of its own; use that"
                    )
        return self


_OWN = (names.GPU_RESOURCE, "cpu", "memory")


def flavor_spec(flavor: Flavor) -> dict[str, Any]:
    """Return the `spec` of a ResourceFlavor."""
    tolerations = [toleration.manifest() for toleration in flavor.tolerations]
    return {
        "nodeLabels": flavor.node_labels,
        **({"nodeTaints": [taint.manifest() for taint in flavor.taints]} if flavor.taints else {}),
        **({"tolerations": tolerations} if tolerations else {}),
        **({} if flavor.levels is None else {"topologyName": topology_name(flavor.levels)}),
    }


def cluster_queue_spec(args: QueuesArgs, tenant: TenantQueue) -> dict[str, Any]:
    """Return the `spec` of a tenant's ClusterQueue, which no other namespace can use."""
    amounts = {flavor.name: _amounts(flavor, tenant.quotas[flavor.name]) for flavor in args.flavors}
    # All flavors of a group have the same resources: of what its nodes do not offer, a flavor has none.
    covered = [*dict.fromkeys(name for of_flavor in amounts.values() for name in of_flavor)]
    flavors = []
    for flavor in args.flavors:
        # Without a limit even a quota of 0 borrows all that the cohort lends; only a cohort admits a limit.
        limit = {} if tenant.quotas[flavor.name].borrows or args.cohort is None else {"borrowingLimit": "0"}
        of_flavor = amounts[flavor.name]
        resources = [{"name": name, "nominalQuota": of_flavor.get(name, "0"), **limit} for name in covered]
        flavors.append({"name": flavor.flavor_name, "resources": resources})
    return {
        "namespaceSelector": {"matchLabels": {names.NAMESPACE_NAME: tenant.namespace}},
        "queueingStrategy": args.strategy,
        "preemption": {"reclaimWithinCohort": args.reclaim, "withinClusterQueue": args.preempt},
        "resourceGroups": [{"coveredResources": covered, "flavors": flavors}],
        **({"cohortName": args.cohort} if args.cohort else {}),
    }


def _amounts(flavor: Flavor, quota: Quota) -> dict[str, str]:
    """Return the quota of a flavor, by resource."""
    pods = quota.gpus if quota.rdma_pods is None else quota.rdma_pods
    return {
        names.GPU_RESOURCE: str(quota.gpus),
        "cpu": str(quota.cpus),
        # As Kueue writes it back: 0Gi would be a change for ever.
        "memory": f"{quota.memory_gib}Gi" if quota.memory_gib else "0",
        **dict.fromkeys(flavor.rdma, str(pods)),
        **quota.further,
    }


class Queues(Component):
    """A ResourceFlavor for each kind of nodes; for each tenant a ClusterQueue and a LocalQueue in its namespace.

    With levels of the fabric also the Topology that a flavor names.

    Outputs: `queues`, namespace/queue of every tenant, known when all are active.
    """

    queues: pulumi.Output[list[str]]

    def __init__(
        self,
        name: str,
        args: QueuesArgs,
        teams: Mapping[str, pulumi.Resource] | None = None,
        *,
        flavor: bool = True,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Make the queues; `teams` is what has to be there before a tenant's own queue, by namespace.

        Each queue waits for its own tenant alone: if all waited for all, their dependencies would grow with the square
        of the tenants, in the program and in the state. Without `flavor` another stack makes what they have in common.
        """
        super().__init__("tenants:Queues", name, args, opts)
        self._teams = teams or {}
        self._topologies: dict[str, CustomObject] = {}
        # `pulumi state move` brings them here from the stack of all layers without what they were part of.
        self._formerly: Mapping[str, Any] = (
            {} if flavor else {"aliases": [pulumi.Alias(parent=pulumi.ROOT_STACK_RESOURCE)]}
        )
        self._active = waits.wait_for([waits.condition("Active")], timeout=args.timeout)
        common = [self._flavor(name, args, entry) for entry in args.flavors] if flavor else []
        queue_objects = [self._tenant(name, args, tenant, common) for tenant in args.tenants]
        queues = [f"{tenant.namespace}/{args.queue}" for tenant in args.tenants]
        self._own = {tenant.namespace: queue.id for tenant, queue in zip(args.tenants, queue_objects, strict=True)}
        self.outputs(queues=pulumi.Output.all(*(queue.id for queue in queue_objects or common)).apply(lambda _: queues))

    @property
    def active(self) -> Mapping[str, pulumi.Output[str]]:
        """What is known of each tenant's queue when it is active, by namespace."""
        return self._own

    def _flavor(self, name: str, args: QueuesArgs, flavor: Flavor) -> CustomObject:
        part = name if len(args.flavors) == 1 else f"{name}-{flavor.name}"
        own_labels = labels(flavor.name, "queue")
        topology = []
        if flavor.levels is not None:
            levels = topology_name(flavor.levels)
            if levels not in self._topologies:
                self._topologies[levels] = CustomObject(
                    f"{part}-topology",
                    kinds.TOPOLOGY,
                    meta.v1.ObjectMetaArgs(name=levels, labels=own_labels),
                    {"spec": topology_spec(flavor.levels)},
                    self.child(),
                )
            topology = [self._topologies[levels]]
        return CustomObject(
            f"{part}-flavor",
            kinds.RESOURCE_FLAVOR,
            meta.v1.ObjectMetaArgs(name=flavor.flavor_name, labels=own_labels),
            {"spec": flavor_spec(flavor)},
            self.child(*topology),
        )

    def _tenant(self, name: str, args: QueuesArgs, tenant: TenantQueue, common: Sequence[CustomObject]) -> CustomObject:
        own_labels = labels(tenant.namespace, "queue")
        cluster_queue = CustomObject(
            f"{name}-{tenant.namespace}-cluster-queue",
            kinds.CLUSTER_QUEUE,
            meta.v1.ObjectMetaArgs(name=tenant.namespace, labels=own_labels, annotations=self._active),
            {"spec": cluster_queue_spec(args, tenant)},
            self.child(*common, **self._formerly),
        )
        return CustomObject(
            f"{name}-{tenant.namespace}-local-queue",
            kinds.LOCAL_QUEUE,
            meta.v1.ObjectMetaArgs(
                name=args.queue, namespace=tenant.namespace, labels=own_labels, annotations=self._active
            ),
            {"spec": {"clusterQueue": tenant.namespace}},
            self.child(
                cluster_queue, *([team] if (team := self._teams.get(tenant.namespace)) else ()), **self._formerly
            ),
        )
