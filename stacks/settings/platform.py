"""One environment as a frozen tree of settings, and what follows from it."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Self

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator

from components.base.model import DnsLabel, merged_by
from components.base.timeouts import Timeouts
from components.nodes.node_pool import BUILT_IN
from components.operators.mpi_operator import MpiOperatorImages
from components.tenants.priority_class import PriorityClassArgs
from core.hardware import profiles
from core.hardware.placement import Reserve
from core.hardware.profiles import Hca, Profile
from stacks.programs import PROGRAMS, Program
from stacks.releases import RELEASES, Release, ReleaseName
from stacks.settings import policies as policy_settings
from stacks.settings.allowed import AllowedVersion
from stacks.settings.base import Based
from stacks.settings.builds import BuildSettings, ImageArchitectures
from stacks.settings.cluster import ClusterSettings, Nodes, NodeSettings
from stacks.settings.extra_fields import ExtraFields
from stacks.settings.fabric import FabricSettings, InfiniBand
from stacks.settings.gpu import GpuOperatorSettings, GpuSettings
from stacks.settings.nodes import TuningSettings
from stacks.settings.operators import NodeFeatureDiscoverySettings, OperatorSettings, completed
from stacks.settings.origins import Places
from stacks.settings.policies import Policies
from stacks.settings.pools import MOST_LENGTH, PoolSettings, with_machines
from stacks.settings.resolved_pool import Pool
from stacks.settings.site import SiteSettings
from stacks.settings.state import StateSettings
from stacks.settings.storage import ContainerNativeStorage, DirectoryVolume, StorageSettings, Volume
from stacks.settings.suites import SuiteSettings
from stacks.settings.tenants import PullSecretSettings, QueueSettings, TenantSettings
from stacks.settings.trainer import TrainerSettings
from stacks.settings.transforms import ObjectName
from stacks.settings.workloads import Stage


class Settings(Based):
    """One environment."""

    release: ReleaseName = Field(
        description="OpenShift release, in quotes; decides the generation of every API ([releases](releases.md))"
    )
    cluster: ClusterSettings
    state: StateSettings | None = Field(
        default=None, description="where the Pulumi state is stored; None: the backend of the user who runs the engine"
    )
    machines: tuple[str, ...] = Field(
        default=(),
        description="the stack's own machine files, relative to the project's folder, e.g. machines/ours.yaml; the "
        "file name without .yaml is the machine's name (docs/guide/machines.md)",
    )
    pools: dict[Annotated[DnsLabel, Field(max_length=MOST_LENGTH)], PoolSettings] = Field(
        default={},
        description="pools of GPU nodes, by name, for a cluster with more than one kind of machine "
        "([pools](../guide/pools.md)); none: all GPU nodes are one and the same machine",
    )
    nodes: Nodes
    machine_config_pool: DnsLabel = Field(
        default="worker",
        description="pool of the GPU nodes; a name other than worker creates one for them, which `tuning` needs",
    )
    timeouts: Timeouts = Field(default=Timeouts(), description="how long an update waits for each part")
    reboot_minutes: int = Field(
        default=15,
        gt=0,
        le=240,
        description="longest time for a GPU node to drain and restart; decides how long an update waits for a pool",
    )
    ports: tuple[Hca, ...] = Field(
        default=(),
        description="compute ports of a machine whose file does not name them, in rail order",
    )
    reserve: Reserve | None = Field(
        default=None,
        description="what GPU nodes reserve; jobs get a share of the rest per GPU. None: as the machine's file has it",
    )
    tuning: TuningSettings | None = Field(default=None, description="None: nodes stay unchanged except for memlock")
    node_feature_discovery: NodeFeatureDiscoverySettings | None = Field(
        default=None, description="the operator that labels nodes by their devices; None only without operators"
    )
    gpu: GpuSettings = Field(description="how GPUs are enabled on the nodes")
    fabric: FabricSettings = Field(description="network between the GPU nodes")
    mpi_operator: MpiOperatorImages | None = Field(
        default=None, description="the MPI operator, of the generation of the release; None: no MPI jobs"
    )
    trainer: TrainerSettings = Field(
        default=None,
        description="Kubeflow Trainer: workloads of kind torch become TrainJobs; none: they are Indexed Jobs, which "
        "need no operator",
    )
    operators: OperatorSettings = Field(
        default=OperatorSettings(), description="operators from OperatorHub in addition to those of other settings"
    )
    storage: StorageSettings | None = Field(
        default=None, description="Spectrum Scale; None: the cluster has other storage"
    )
    queues: QueueSettings | None = Field(
        default=None, description="Kueue; None: jobs start as the scheduler places them"
    )
    priority_classes: tuple[PriorityClassArgs, ...] = Field(default=(), json_schema_extra=merged_by("class_name"))
    pull_secret: PullSecretSettings | None = None
    tenants: tuple[TenantSettings, ...] = Field(min_length=1, json_schema_extra=merged_by("namespace"))
    builds: tuple[BuildSettings, ...] = Field(
        default=(),
        description="images that the cluster builds",
        json_schema_extra=merged_by("tenant", "name"),
    )
    programs: dict[DnsLabel, Program] = Field(
        default={}, description="programs of the stack's own, by name, beside those of [these files](programs.md)"
    )
    image_architectures: ImageArchitectures = Field(
        default={},
        description="processors that images of jobs are for, where not all machines have them "
        "([pools](../guide/pools.md#processors))",
    )
    site: SiteSettings | None = Field(
        default=None,
        description="hosts, switches and other systems around the cluster, for the files that `./hpc site` writes "
        "([site](../guide/site.md)); the program does not read it. None: files follow from the other settings alone",
    )
    policies: Policies = Field(
        default={},
        description="policy parameters, by rule, e.g. image-registry: {more: [registry.example.com]}, or a rule's "
        "level, e.g. gpu-limit: advisory, or disabled, for every check of the stack ([pages of the "
        "rules](policies/README.md#rules)); under `rules` folders with rules of one's own "
        "([own](../guide/own.md#rules)), e.g. rules: [rules]; for tenants in layers, set in the platform's file",
    )
    stages: tuple[Stage, ...] = Field(default=(), json_schema_extra=merged_by("name"))
    suite: SuiteSettings | None = Field(
        default=None,
        description="verification jobs that the cluster repeats on a schedule ([suite](../guide/suite.md)); None: none",
    )
    objects: tuple[str, ...] = Field(
        default=(),
        description="folders with manifests of the stack's own (YAML, several documents per file, subfolders, too), "
        "relative to the project's folder; applied after the platform and before jobs, and examined by the policies "
        "([objects of one's own](../guide/own.md))",
    )
    allow: tuple[AllowedVersion, ...] = Field(
        default=(),
        description="versions outside a vendor's table that are accepted, each with a reason; a warning names entries "
        "that nothing needs",
        json_schema_extra=merged_by("what", "value"),
    )
    protect: bool = Field(default=False, description="refuse to delete shared and stateful objects; on in production")
    adopted: tuple[ObjectName, ...] = Field(
        default=(),
        description="objects that existed before the stack, as Kind/namespace/name; they are never deleted, nor are "
        "their namespaces and CRDs. `./hpc state adopt` writes it",
    )
    extra: ExtraFields = Field(
        default={},
        description="fields that no other setting has, by object (Kind/namespace/name): merged into what the program "
        "declares, as a JSON merge patch: maps merge, null removes a field, lists are replaced. Policies and reviews "
        "see the result. `./hpc state adopt` writes what an adopted object has and the program does not declare",
    )

    _places: Places = PrivateAttr(default_factory=Places)

    @field_validator("nodes", mode="before")
    @classmethod
    def _of_pools(cls, value: Any, info: ValidationInfo) -> Any:
        return with_machines(value, info.data.get("pools", {}))

    @field_validator("operators", mode="before")
    @classmethod
    def _completed(cls, value: Any, info: ValidationInfo) -> Any:
        return completed(value, info.data.get("release"))

    def __copy__(self) -> Self:
        """Return a copy without the stored pools and limits, which follow from fields that `model_copy` replaces."""
        copy = super().__copy__()
        for name in ("gpu_pools", "gpu_limits"):
            copy.__dict__.pop(name, None)
        return copy

    @property
    def places(self) -> Places:
        """How messages name places of the settings."""
        return self._places

    def from_files(self, shown: Callable[[Sequence[str | int]], str]) -> Self:
        """Let messages about the settings have places in their files, and return them."""
        self._places = Places(shown)
        return self

    @property
    def rule_folders(self) -> tuple[str, ...]:
        """Folders with policy rules of the stack's own."""
        return policy_settings.folders(self.policies)

    @property
    def rule_parameters(self) -> dict[str, dict[str, Any]]:
        """What is set for policies, by rule."""
        return policy_settings.parameters(self.policies)

    @property
    def has_platform(self) -> bool:
        """Whether the stack declares what all tenants depend on; a stack of tenants alone does not."""
        return True

    @property
    def has_tenants(self) -> bool:
        """Whether the stack declares tenants, and what is theirs; a stack of the platform alone does not."""
        return True

    @property
    def others(self) -> tuple[tuple[str, TenantSettings], ...]:
        """Tenants of other stacks on the same platform, each with the file that it is in."""
        return ()

    @property
    def everyone(self) -> tuple[TenantSettings, ...]:
        """All tenants of the cluster, those of other stacks, too."""
        return (*self.tenants, *(tenant for _, tenant in self.others))

    @property
    def version(self) -> Release:
        """What the release means."""
        return RELEASES[self.release]

    @property
    def gpu_nodes(self) -> tuple[NodeSettings, ...]:
        """The nodes with GPUs."""
        return tuple(node for node in self.nodes if node.machine)

    @cached_property
    def gpu_pools(self) -> tuple[Pool, ...]:
        """The pools of the GPU nodes; raise ValidationError for ports that a machine does not have."""
        if not self.pools:
            return (self._pool(None, _AS_THE_STACK, self.gpu_nodes),) if self.gpu_nodes else ()
        nodes = {name: tuple(node for node in self.gpu_nodes if node.pool == name) for name in self.pools}
        return tuple(self._pool(name, pool, nodes[name]) for name, pool in self.pools.items() if nodes[name])

    def _pool(self, name: str | None, own: PoolSettings, nodes: tuple[NodeSettings, ...]) -> Pool:
        """Return a pool, with the stack's settings where it has none of its own."""
        fabric = own.fabric_beside(self.fabric)
        ports = self.ports if own.ports is None else own.ports
        return Pool(
            name=name or nodes[0].hardware.name,
            first=name is None or name == next(iter(self.pools)),
            declared=name is not None,
            machine=_machine(nodes[0].hardware, ports, fabric),
            named_ports=bool(ports),
            nodes=nodes,
            fabric=fabric,
            gpu=self.gpu,
            driver=own.driver_beside(self.gpu.driver) if isinstance(self.gpu, GpuOperatorSettings) else None,
            own_driver=own.differs_in("driver"),
            tuning=own.tuning if own.differs_in("tuning") else self.tuning,
            machine_config_pool=own.machine_config_pool or self.machine_config_pool,
            reserve=own.reserve if own.differs_in("reserve") else self.reserve,
            labels=own.labels,
            taints=own.taints,
            scale_pods=self.scale_pods,
        )

    def pool_with(self, node: str) -> Pool | None:
        """Return the pool of a GPU node; None for another node."""
        return next((pool for pool in self.gpu_pools if node in pool.free), None)

    @property
    def scale_pods(self) -> ContainerNativeStorage | None:
        """Container-native Storage Scale, which runs a client's pod on every worker; None: the cluster has none."""
        return self.storage if isinstance(self.storage, ContainerNativeStorage) else None

    @property
    def has_plain_workers(self) -> bool:
        """Whether a stack with `pools` has nodes without GPUs, on which launchers run."""
        return bool(self.pools) and any(not node.machine for node in self.workers)

    @property
    def workers(self) -> tuple[NodeSettings, ...]:
        """The nodes on which jobs' pods run, masters that are workers, too, among them."""
        return tuple(node for node in self.nodes if "worker" in node.roles)

    def machine_config_pool_of(self, node: NodeSettings) -> str:
        """Return the MachineConfigPool of a node: of a master that is a worker, too, the masters'."""
        pool = self.pool_with(node.name)
        if pool and pool.own_machine_config_pool:
            return pool.machine_config_pool
        return BUILT_IN[0] if BUILT_IN[0] in node.roles else BUILT_IN[1]

    @property
    def uses_rdma(self) -> bool:
        """Whether pods of some jobs need RDMA devices and locked memory."""
        return any(pool.uses_rdma for pool in self.gpu_pools)

    @property
    def scale_classes(self) -> frozenset[str]:
        """Storage classes that the stack makes, all of them of Storage Scale."""
        return (
            frozenset(storage_class.class_name for storage_class in self.storage.classes)
            if self.storage
            else frozenset()
        )

    def on_scale(self, volume: Volume) -> bool:
        """Say whether a tenant's volume is known to be on Storage Scale."""
        return isinstance(volume, DirectoryVolume) or volume.storage_class in self.scale_classes

    @property
    def foreign_classes(self) -> tuple[str, ...]:
        """Storage classes that tenants' volumes name and the stack does not make: the cluster has them."""
        volumes = (volume for tenant in self.tenants for volume in tenant.all_volumes.values())
        named = {volume.storage_class for volume in volumes if not isinstance(volume, DirectoryVolume)}
        return tuple(sorted(named - self.scale_classes))

    @property
    def rdma_resources(self) -> tuple[str, ...]:
        """Resource names of the device plugins of all pools; none without RDMA."""
        return tuple(dict.fromkeys(resource for pool in self.gpu_pools for resource in pool.rdma_resources))

    def program(self, name: str) -> Program:
        """Return the program of a name, the stack's own or one of the files; raise KeyError where there is none."""
        return self.programs[name] if name in self.programs else PROGRAMS[name]

    def tenant(self, namespace: str) -> TenantSettings:
        """Return the tenant of `namespace`."""
        return next(tenant for tenant in self.tenants if tenant.namespace == namespace)

    def gpu_quota(self, tenant: TenantSettings, pool: Pool) -> int:
        """Return the GPUs of a pool that a tenant's quota has; with one pool a number needs no name."""
        quota = tenant.gpu_quota
        return quota if isinstance(quota, int) else quota.get(pool.name, 0)

    def shares(self, tenant: TenantSettings, pool: Pool) -> bool:
        """Say whether a tenant may hold anything of a pool, its own or lent: not of one that its quotas leave out."""
        quota, sizes = tenant.gpu_quota, tenant.instance_quota
        if isinstance(quota, int) or pool.name in quota:
            return True
        return any(size in sizes for node in pool.nodes for size in node.instances)

    @cached_property
    def gpu_limits(self) -> Mapping[tuple[str, str], int]:
        """GPUs that a tenant may hold at most, by its namespace and the pool's name.

        Where tenants lend GPUs to each other, those of all tenants, unless the tenant's quota leaves the pool out: GPUs
        outside all quotas are not lent, as Kueue admits no more than the quotas of the cohort together.
        """
        lends = self.queues is not None and self.queues.cohort is not None
        limits: dict[tuple[str, str], int] = {}
        for pool in self.gpu_pools:
            together = sum(self.gpu_quota(tenant, pool) for tenant in self.everyone)
            for tenant in self.tenants:
                borrows = lends and self.shares(tenant, pool)
                limits[tenant.namespace, pool.name] = together if borrows else self.gpu_quota(tenant, pool)
        return limits

    def most_gpus(self, namespace: str) -> int:
        """Return the GPUs of all pools that a tenant may hold at most."""
        return sum(self.gpu_limits[namespace, pool.name] for pool in self.gpu_pools)


_AS_THE_STACK = PoolSettings.model_construct(machine="")
"""The one pool of a stack without `pools`."""


def _machine(machine: Profile, ports: tuple[Hca, ...], fabric: FabricSettings) -> Profile:
    """Return a machine with the ports that the settings name, or with its own in the mode of the fabric."""
    if ports:
        return profiles.with_hcas(machine, ports)
    return machine if isinstance(fabric, InfiniBand) else profiles.on_ethernet(machine)
