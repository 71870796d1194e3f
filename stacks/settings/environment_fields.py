"""The fields of one environment's settings, in the order of the reference."""

from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator

from components.base.model import DnsLabel, merged_by
from components.base.timeouts import Timeouts
from components.nodes.node_health import NodeHealth
from components.operators.mpi_operator import MpiOperatorImages
from components.tenants.priority_class import PriorityClassArgs
from core.hardware.placement import Reserve
from core.hardware.profiles import Hca
from stacks.programs import Program
from stacks.releases import ReleaseName
from stacks.settings.builds import BuildSettings, ImageArchitectures
from stacks.settings.cluster import ClusterSettings, Nodes
from stacks.settings.fabric import FabricSettings
from stacks.settings.gpu import GpuSettings
from stacks.settings.operators import NodeFeatureDiscoverySettings, OperatorSettings, TrainerSettings, completed
from stacks.settings.pools import MOST_LENGTH, PoolSettings, TuningSettings, with_machines
from stacks.settings.site import SiteSettings
from stacks.settings.stack import AllowedVersion, Based, Policies, StateSettings
from stacks.settings.storage import StorageSettings
from stacks.settings.tenants import PullSecretSettings, QueueSettings, SuiteSettings, TenantSettings
from stacks.settings.transforms import ExtraFields, ObjectName
from stacks.settings.workloads import Stage


class EnvironmentFields(Based):
    """The settings of one environment, as its file has them."""

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
    node_health: NodeHealth | None = Field(
        default=None,
        description="GPU nodes that are lost restart, and their pods are freed "
        "([lost nodes](../guide/lost-nodes.md)); needs `operators.node_health_check` and "
        "`operators.self_node_remediation`. None: pods of such a node stay Terminating until somebody acts",
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

    @field_validator("nodes", mode="before")
    @classmethod
    def _of_pools(cls, value: Any, info: ValidationInfo) -> Any:
        return with_machines(value, info.data.get("pools", {}))

    @field_validator("operators", mode="before")
    @classmethod
    def _completed(cls, value: Any, info: ValidationInfo) -> Any:
        return completed(value, info.data.get("release"))
