"""The settings of an environment: one frozen tree, with every rule that spans fields.

`Pulumi.<stack>.yaml` holds them under the key `hpc:platform`. Nothing else reads the configuration.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, Self

import pulumi
import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from components.model import DnsLabel, DnsName, Image, Model, Quantity
from components.olm_operator import OlmOperatorArgs
from components.scale_csi import Certificate, ScaleCluster, ScaleClusters, require_ca
from components.static_volume import VolumeHandle
from components.tenant import IdRange, McsLabel
from hardware import profiles
from hardware.placement import Reserve, fits, share
from hardware.profiles import Profile
from stacks.releases import ReleaseName
from stacks.workload_settings import MpiWorkload, RdmaTestWorkload, Stage

PROJECT = "hpc"
KEY = "platform"


class SettingsError(pulumi.RunError):
    """The settings of a stack are wrong; the message names every field, its value and the remedy."""


class ClusterSettings(Model):
    """Which cluster the stack belongs to; the ambient current context is never used."""

    kubeconfig: str = Field(description="path, relative to the project's folder")
    context: str = Field(min_length=1, description="context in the kubeconfig")
    identifier: DnsName = Field(description="identity of the cluster; another one replaces every object")
    simulated: bool = Field(default=False, description="whether `./hpc up` starts a simulated cluster for it")


class NodeSettings(Model):
    """One node of the cluster."""

    name: DnsName
    roles: tuple[Literal["master", "worker"], ...] = Field(min_length=1)
    profile: str | None = Field(default=None, description="hardware profile of a GPU node; None for others")
    scale_client: bool = Field(default=False, description="is a Spectrum Scale client, so CSI pods run there")

    @field_validator("profile")
    @classmethod
    def _known_profile(cls, name: str | None) -> str | None:
        if name is not None:
            profiles.profile(name)
        return name


class OperatorSettings(Model):
    """Operators that come from OperatorHub."""

    node_feature_discovery: OlmOperatorArgs
    special_resource: OlmOperatorArgs
    scale_csi: OlmOperatorArgs


class RdmaSettings(Model):
    """The shared RDMA device plugin."""

    image: Image
    hca_max: int = Field(default=100, ge=1, description="pods of one node that may share an HCA (R-3.4.2-3)")


class MpiOperatorSettings(Model):
    """The MPI operator."""

    image: Image
    kubectl_delivery_image: Image


class FileSystem(Model):
    """The file system that holds the data lake."""

    name: str = Field(description="R-2.2-4: ess3000_4M")
    uid: str = Field(description="from `mmlsfs NAME --uid` on the local cluster")


class StorageSettings(Model):
    """Spectrum Scale."""

    host_path: str = Field(pattern=r"^/", description="mount point of the primary file system (R-3.4.5-6)")
    clusters: ScaleClusters
    ca_certificate: Certificate | None = Field(default=None, description="PEM, of the CA of the GUIs' certificates")
    file_system: FileSystem

    @model_validator(mode="after")
    def _verifiable(self) -> Self:
        require_ca(self.clusters, self.ca_certificate)
        return self

    @property
    def local_cluster(self) -> ScaleCluster:
        """The cluster of the nodes themselves, whose id begins every volume handle (R-4.2-8)."""
        return next(cluster for cluster in self.clusters if cluster.primary)


class DataVolume(Model):
    """The directory of the data lake that a tenant sees at /workspace."""

    volume: DnsName
    claim: DnsName
    path: str = Field(pattern=r"^/", description="directory, absolute")
    capacity: Quantity
    labels: dict[str, str] = Field(default_factory=dict)


class TenantSettings(Model):
    """One team."""

    namespace: DnsLabel
    uid_range: IdRange
    mcs: McsLabel
    run_as_uid: int = Field(gt=0, description="owner of the data directory (R-4.3-6)")
    run_as_gid: int = Field(gt=0)
    gpu_quota: int = Field(ge=0)
    data: DataVolume

    @model_validator(mode="after")
    def _owner_in_range(self) -> Self:
        if self.run_as_uid not in self.uid_range:
            raise ValueError(
                f"run_as_uid {self.run_as_uid} is outside uid_range {self.uid_range}; "
                "the SCC admits only ids of the namespace's range"
            )
        return self


class Settings(Model):
    """One environment."""

    release: ReleaseName
    cluster: ClusterSettings
    nodes: tuple[NodeSettings, ...] = Field(min_length=1)
    machine_config_pool: DnsName = Field(default="worker", description="pool of the GPU nodes")
    reserve: Reserve = Field(default=Reserve(), description="what GPU nodes keep; jobs get a share of the rest per GPU")
    operators: OperatorSettings
    rdma: RdmaSettings
    mpi_operator: MpiOperatorSettings
    storage: StorageSettings
    tenants: tuple[TenantSettings, ...] = Field(min_length=1)
    stages: tuple[Stage, ...] = ()
    protect: bool = Field(default=False, description="refuse to delete shared and stateful objects; on in production")

    @property
    def gpu_nodes(self) -> tuple[NodeSettings, ...]:
        """The nodes with GPUs."""
        return tuple(node for node in self.nodes if node.profile)

    @property
    def profile(self) -> Profile:
        """The profile that all GPU nodes share."""
        name = self.gpu_nodes[0].profile
        assert name is not None  # noqa: S101 - gpu_nodes have one, by definition
        return profiles.profile(name)

    @property
    def rdma_resources(self) -> tuple[str, ...]:
        """Resource names of the device plugin, one per HCA: shared_ib0 and so on (R-3.4.2-3)."""
        return tuple(f"shared_{hca.netdev}" for hca in self.profile.hcas)

    def tenant(self, namespace: str) -> TenantSettings:
        """Return the tenant of `namespace`."""
        return next(tenant for tenant in self.tenants if tenant.namespace == namespace)

    def handle(self, tenant: TenantSettings) -> VolumeHandle:
        """Return the volume handle of a tenant's directory."""
        return VolumeHandle(
            cluster_id=self.storage.local_cluster.id,
            file_system_uid=self.storage.file_system.uid,
            path=tenant.data.path,
        )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        problems = list(_problems(self))
        if problems:
            raise ValueError("; ".join(problems))
        return self


def _problems(settings: Settings) -> Iterator[str]:
    if len({node.profile for node in settings.gpu_nodes}) != 1:
        yield "nodes: give all GPU nodes one and the same profile"
        return
    yield from _repeated("nodes", (node.name for node in settings.nodes))
    tenants = settings.tenants
    yield from _repeated("tenants: namespace", (tenant.namespace for tenant in tenants))
    yield from _repeated("tenants: mcs", (tenant.mcs for tenant in tenants))
    yield from _repeated("tenants: data.volume", (tenant.data.volume for tenant in tenants))
    for one, other in combinations(tenants, 2):
        if one.uid_range.overlaps(other.uid_range):
            yield (
                f"tenants: uid_range {one.uid_range} of {one.namespace} overlaps {other.uid_range} of "
                f"{other.namespace}; give each tenant a block of its own"
            )
    jobs = [(workload.tenant, workload.job_name) for stage in settings.stages for workload in stage.workloads]
    yield from _repeated("stages: job", (f"{tenant}/{job}" for tenant, job in jobs))
    known = {tenant.namespace for tenant in tenants}
    for tenant, job in jobs:
        if tenant not in known:
            yield f"stages: job {job} has tenant {tenant!r}; known: {', '.join(sorted(known))}"
    yield from _workload_problems(settings)


def _workload_problems(settings: Settings) -> Iterator[str]:
    profile = settings.profile
    hcas = [hca.name for hca in profile.hcas]
    nodes = [node.name for node in settings.gpu_nodes]
    for stage in settings.stages:
        for workload in stage.workloads:
            where = f"stages: job {workload.job_name}"
            if isinstance(workload, MpiWorkload):
                yield from (f"{where}: {problem}" for problem in _too_large(workload, settings))
            if isinstance(workload, RdmaTestWorkload):
                if workload.hca not in hcas:
                    yield f"{where}: hca {workload.hca!r} is not one of {profile.name}: {', '.join(hcas)}"
                for node in (workload.client_node, workload.server_node):
                    if node not in nodes:
                        yield f"{where}: node {node!r} is not a GPU node; known: {', '.join(nodes)}"
                if workload.client_node == workload.server_node:
                    yield f"{where}: client_node and server_node are both {workload.client_node}; name two nodes"


def _too_large(workload: MpiWorkload, settings: Settings) -> Iterator[str]:
    layout, profile = workload.layout, settings.profile
    try:
        memory = share(profile, layout.gpus, settings.reserve).memory_gib
    except ValueError as error:
        yield f"reserve: {error}"
        return
    if workload.shm_gib > memory:
        yield f"shm_gib {workload.shm_gib} is more than the pod's memory of {memory} GiB; lower it"
    free = {node.name: {"gpus": profile.gpus} for node in settings.gpu_nodes}
    if layout.gpus > profile.gpus:
        yield f"layout.gpus {layout.gpus} is more than the {profile.gpus} of {profile.name}"
    elif not fits([{"gpus": layout.gpus}] * layout.pods, free):
        yield (
            f"layout {layout} does not fit on {len(free)} nodes with {profile.gpus} GPUs each, even with nothing else "
            "there; lower pods or gpus"
        )
    quota = next((tenant.gpu_quota for tenant in settings.tenants if tenant.namespace == workload.tenant), None)
    if quota is not None and layout.total_gpus > quota:
        yield (
            f"layout {layout} takes {layout.total_gpus} GPUs, and tenant {workload.tenant} has a gpu_quota of {quota}; "
            "lower the one or raise the other"
        )


def _repeated(what: str, values: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            yield f"{what} {value!r} is given twice; give each its own"
        seen.add(value)


def parse(data: Any, source: str) -> Settings:
    """Return the settings in `data`; raise SettingsError, which lists all errors and names `source`."""
    if data is None:
        raise SettingsError(f"{source}: {PROJECT}:{KEY} is missing; Pulumi.dev.yaml is an example")
    try:
        return Settings.model_validate(data)
    except ValidationError as errors:
        lines = [_line(error) for error in _causes(errors.errors(include_url=False))]
        raise SettingsError(f"{source}: {len(lines)} wrong\n" + "\n".join(lines)) from None


def _causes(errors: Sequence[Any]) -> list[Any]:
    """Leave out that a list is too short where that is only because of what is wrong inside it."""
    places = [error["loc"] for error in errors]
    return [
        error
        for error in errors
        if error["type"] != "too_short"
        or not any(place[: len(error["loc"])] == error["loc"] != place for place in places)
    ]


def _line(error: Any) -> str:
    path = ".".join([f"{PROJECT}:{KEY}", *(str(part) for part in error["loc"])])
    message = error["msg"].removeprefix("Value error, ")
    value = error["input"]
    shown = f" (value: {value!r})" if isinstance(value, str | int | float | bool) else ""
    remedy = "; remove it or correct its name" if error["type"] == "extra_forbidden" else ""
    return f"  {path}: {message}{shown}{remedy}"


def load(stack: str, root: Path) -> Settings:
    """Return the settings of `stack` from its file below `root`, without the engine."""
    file = root / f"Pulumi.{stack}.yaml"
    if not file.is_file():
        known = ", ".join(sorted(path.name.split(".")[1] for path in root.glob("Pulumi.*.yaml")))
        raise SettingsError(f"no settings for stack {stack!r}: {file.name} is missing; known stacks: {known}")
    try:
        content = yaml.safe_load(file.read_text())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file.name} is not YAML: {error}") from None
    config = content.get("config") if isinstance(content, Mapping) else None
    return parse(config.get(f"{PROJECT}:{KEY}") if isinstance(config, Mapping) else None, file.name)
