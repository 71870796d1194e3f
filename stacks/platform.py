"""One environment as a frozen tree of settings, and what follows from it."""

from collections.abc import Callable, Sequence
from typing import Any, Self

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator

from apis.nccl import Transport
from components.model import DnsLabel, merged_by
from components.mpi_operator import MpiOperatorImages
from components.node_pool import BUILT_IN, at_once
from components.priority_class import PriorityClassArgs
from components.timeouts import LONGEST, Timeouts
from hardware import profiles, topology
from hardware.placement import Reserve
from hardware.profiles import Hca, Profile
from sites.settings import SiteSettings
from stacks import policy_settings
from stacks.allowed_settings import AllowedVersion
from stacks.base_settings import Based
from stacks.build_settings import BuildSettings
from stacks.cluster_settings import ClusterSettings, Nodes, NodeSettings
from stacks.extra_fields import ExtraFields
from stacks.fabric_settings import Ethernet, FabricSettings, InfiniBand
from stacks.gpu_settings import DevicePluginSettings, GpuOperatorSettings, GpuSettings
from stacks.node_settings import TuningSettings
from stacks.operator_settings import NodeFeatureDiscoverySettings, OperatorSettings, completed
from stacks.origins import Places
from stacks.policy_settings import Policies
from stacks.programs import PROGRAMS, Program
from stacks.releases import RELEASES, Release, ReleaseName
from stacks.state_settings import StateSettings
from stacks.storage_settings import AnyVolume, ContainerNativeStorage, DirectoryData, StorageSettings
from stacks.suite_settings import SuiteSettings
from stacks.tenant_settings import PullSecretSettings, QueueSettings, TenantSettings
from stacks.trainer_settings import TrainerSettings
from stacks.transforms import ObjectName
from stacks.workload_settings import Stage


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
        "file name without .yaml is a profile (hardware/README.md)",
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
        description="compute ports of a machine whose profile does not name them, in rail order",
    )
    reserve: Reserve | None = Field(
        default=None,
        description="what GPU nodes reserve; jobs get a share of the rest per GPU. None: as in the machine's profile",
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
        description="images that the cluster builds (R-4.3-5, N-5.7)",
        json_schema_extra=merged_by("tenant", "name"),
    )
    programs: dict[DnsLabel, Program] = Field(
        default={}, description="programs of the stack's own, by name, beside those of [these files](programs.md)"
    )
    site: SiteSettings | None = Field(
        default=None,
        description="hosts, switches and other systems around the cluster, for the files that `./hpc site` writes "
        "([site](site.md)); the program does not read it. None: files follow from the other settings alone",
    )
    policies: Policies = Field(
        default={},
        description="policy parameters, by rule, e.g. image-registry: {more: [registry.example.com]}, or a rule's "
        "level, e.g. gpu-limit: advisory, or disabled, for every check of the stack ([pages of the "
        "rules](policies/README.md#rules)); under `rules` folders with rules of one's own ([own](own.md#rules)), e.g. "
        "rules: [rules]; for tenants in layers, set in the platform's file",
    )
    stages: tuple[Stage, ...] = Field(default=(), json_schema_extra=merged_by("name"))
    suite: SuiteSettings | None = Field(
        default=None,
        description="verification jobs that the cluster repeats on a schedule ([suite](suite.md)); None: none",
    )
    objects: tuple[str, ...] = Field(
        default=(),
        description="folders with manifests of the stack's own (YAML, several documents per file, subfolders, too), "
        "relative to the project's folder; applied after the platform and before jobs, and examined by the policies "
        "([objects of one's own](own.md))",
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
        "their namespaces and CRDs. `./hpc adopt` writes it",
    )
    extra: ExtraFields = Field(
        default={},
        description="fields that no other setting has, by object (Kind/namespace/name): merged into what the program "
        "declares, as a JSON merge patch: maps merge, null removes a field, lists are replaced. Policies and reviews "
        "see the result. `./hpc adopt` writes what an adopted object has and the program does not declare",
    )

    _places: Places = PrivateAttr(default_factory=Places)

    @field_validator("operators", mode="before")
    @classmethod
    def _completed(cls, given: Any, info: ValidationInfo) -> Any:
        return completed(given, info.data.get("release"))

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
        return tuple(node for node in self.nodes if node.profile)

    @property
    def free(self) -> dict[str, int]:
        """GPUs that jobs may have, by node."""
        return {node.name: node.gpus for node in self.gpu_nodes}

    @property
    def profile(self) -> Profile:
        """The profile that all GPU nodes share."""
        machine = self.gpu_nodes[0].machine
        if self.ports:
            return profiles.with_hcas(machine, self.ports)
        return machine if isinstance(self.fabric, InfiniBand) else profiles.on_ethernet(machine)

    @property
    def most_pods(self) -> int:
        """Pods with GPUs that one node can hold: a GPU each, or a part of one."""
        divided = isinstance(self.gpu, GpuOperatorSettings) and self.gpu.mig != "none"
        return self.profile.gpus * (self.profile.gpu.mig_instances if divided else 1)

    @property
    def has_scale_clients(self) -> bool:
        """Whether GPU nodes are Spectrum Scale clients, and so reserve a pagepool."""
        return any(node.scale_client for node in self.gpu_nodes)

    @property
    def scale_pods(self) -> ContainerNativeStorage | None:
        """Container-native Storage Scale, which runs a client's pod on every worker; None: the cluster has none."""
        return self.storage if isinstance(self.storage, ContainerNativeStorage) else None

    @property
    def workers(self) -> tuple[NodeSettings, ...]:
        """The nodes on which jobs' pods run, masters that are workers, too, among them."""
        return tuple(node for node in self.nodes if "worker" in node.roles)

    @property
    def reserved(self) -> Reserve:
        """What a GPU node keeps for itself."""
        kubelet = self.tuning.kubelet if self.tuning else None
        reserved = kubelet.reserved if kubelet else 0
        kept = topology.reserve(self.profile, pagepool=self.has_scale_clients, kubelet_reserved=reserved)
        if self.scale_pods:
            client, least = self.scale_pods.client, topology.least_reserve(self.profile, reserved)
            # The CPUs beside those for jobs are the client's, too, as far as there are enough.
            cpus = max(kept.cpus, least.cpus + client.cpus)
            kept = Reserve(cpus=cpus, memory_gib=kept.memory_gib + client.memory_gib)
        return self.reserve or kept

    def pool_of(self, node: NodeSettings) -> str:
        """Return the machine config pool of a node: of a master that is a worker, too, the masters'."""
        if node.profile and self.machine_config_pool not in BUILT_IN:
            return self.machine_config_pool
        return BUILT_IN[0] if BUILT_IN[0] in node.roles else BUILT_IN[1]

    @property
    def rollout_seconds(self) -> int:
        """How long a change of the GPU nodes' pool may take: a pool of OpenShift's own has other nodes, too."""
        own = self.machine_config_pool not in BUILT_IN
        nodes = len(self.gpu_nodes) if own else len(self.workers)
        away = at_once(self.tuning.at_once if self.tuning and own else "1", nodes)
        return min(-(-nodes // away) * self.reboot_minutes * 60, LONGEST)

    @property
    def uses_rdma(self) -> bool:
        """Whether pods need RDMA devices and locked memory."""
        return not isinstance(self.fabric, Ethernet)

    @property
    def transport(self) -> Transport:
        """The default transport of jobs."""
        return Transport.GPUDIRECT if self.uses_rdma else Transport.TCP

    def transport_of(self, tenant: str, wanted: Transport | None) -> Transport:
        """Return the transport of a tenant's job: the one that it names, else the best that the tenant may use."""
        return wanted or (self.transport if self.tenant(tenant).rdma else Transport.TCP)

    @property
    def host_driver(self) -> bool:
        """Whether the nodes have the GPU driver by themselves."""
        gpu = self.gpu
        return isinstance(gpu, DevicePluginSettings) or (isinstance(gpu, GpuOperatorSettings) and gpu.driver is None)

    @property
    def scale_classes(self) -> frozenset[str]:
        """Storage classes that the stack makes, all of them of Storage Scale."""
        return frozenset(each.class_name for each in self.storage.classes) if self.storage else frozenset()

    def on_scale(self, volume: AnyVolume) -> bool:
        """Say whether a tenant's volume is known to be on Storage Scale."""
        return isinstance(volume, DirectoryData) or volume.storage_class in self.scale_classes

    @property
    def foreign_classes(self) -> tuple[str, ...]:
        """Storage classes that tenants' volumes name and the stack does not make: the cluster has them."""
        volumes = (volume for tenant in self.tenants for volume in tenant.all_volumes.values())
        named = {volume.storage_class for volume in volumes if not isinstance(volume, DirectoryData)}
        return tuple(sorted(named - self.scale_classes))

    @property
    def port_names(self) -> tuple[str, ...]:
        """Names of a machine's compute ports on the nodes, in the order of the rails; none where they are unknown."""
        if self.tuning and self.tuning.rail_names:
            return tuple(rail.name for rail in topology.rails(self.profile))
        return tuple(hca.netdev for hca in self.profile.hcas if hca.netdev)

    @property
    def interfaces(self) -> tuple[str, ...]:
        """Network interfaces of a machine's compute ports, in the order of the rails; none without RDMA."""
        return self.port_names if self.uses_rdma else ()

    @property
    def rdma_resources(self) -> tuple[str, ...]:
        """Resource names of the device plugin, one per HCA: shared_ib0 and so on (R-3.4.2-3); none without RDMA."""
        return tuple(f"shared_{interface}" for interface in self.interfaces)

    def program(self, name: str) -> Program:
        """Return the program of a name, the stack's own or one of the files; raise KeyError where there is none."""
        return self.programs[name] if name in self.programs else PROGRAMS[name]

    def tenant(self, namespace: str) -> TenantSettings:
        """Return the tenant of `namespace`."""
        return next(tenant for tenant in self.tenants if tenant.namespace == namespace)

    def most_gpus(self, tenant: TenantSettings) -> int:
        """Return the GPUs that a tenant may hold at most: where tenants lend them to each other, those of all tenants.

        GPUs outside all quotas are not lent: Kueue admits no more than the quotas of the cohort together.
        """
        return self.gpu_limits[tenant.namespace]

    @property
    def gpu_limits(self) -> dict[str, int]:
        """The result of `most_gpus` for every tenant, computed at once."""
        lends = self.queues is not None and self.queues.cohort is not None
        together = sum(each.gpu_quota for each in self.everyone)
        return {each.namespace: together if lends else each.gpu_quota for each in self.tenants}
