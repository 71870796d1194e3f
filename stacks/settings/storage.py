"""Settings of Spectrum Scale, and of what a tenant has of it: volumes and data sets."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from components.base.model import DnsLabel, DnsName, Model, Quantity, merged_by
from components.jobs import job_volumes
from components.jobs.job_volumes import DATA
from components.operators.olm_operator import OlmSubscription
from components.storage.claim import AccessMode
from components.storage.scale_container_native import ContainerNativeScale
from components.storage.scale_csi import ClusterId, ScaleClusters
from components.storage.static_volume import (
    AnyHandle,
    DirectoryPath,
    FilesetHandle,
    FilesetName,
    FileSystemUid,
    LongHandle,
    VolumeHandle,
)
from components.storage.storage_class import StorageClassFields
from core.datasets.choice import Choice


class FileSystem(Model):
    """The file system that holds the data lake."""

    name: str = Field(description="name on its storage cluster; the Redpaper's is ess3000_4M")
    block_size: Quantity | None = Field(
        default=None,
        description="as `mmlsfs NAME -B` prints it, e.g. 4Mi: `./hpc hardware show` warns of data sets whose files are "
        "larger on average. None: not compared",
    )
    uid: FileSystemUid = Field(description="from `mmlsfs NAME --uid` on the local cluster")


class DataLake(Model):
    """The file system with the data, and its storage classes."""

    file_system: FileSystem
    classes: tuple[StorageClassFields, ...] = Field(
        default=(),
        description="storage classes for dynamic provisioning",
        json_schema_extra=merged_by("class_name"),
    )


class HostClientStorage(ScaleClusters, DataLake):
    """Clients are packages on the hosts, and the CSI operator uses them; the release decides its generation."""

    kind: Literal["host-clients"] = "host-clients"
    operator: OlmSubscription

    @property
    def own_cluster(self) -> str:
        """Id of the cluster of the nodes themselves, the first part of every volume handle."""
        return self.local_cluster or next(cluster.id for cluster in self.clusters if cluster.primary)

    @property
    def known_clusters(self) -> tuple[str, ...]:
        """Ids of the clusters that the driver knows."""
        return tuple(cluster.id for cluster in self.clusters)

    @property
    def accounts(self) -> tuple[str, ...]:
        """Secrets with accounts of GUIs."""
        return tuple(cluster.secret for cluster in self.clusters)


class ContainerNativeStorage(ContainerNativeScale, DataLake):
    """Clients are pods on all workers, run by IBM's operator, which includes the CSI driver. For RHCOS nodes."""

    kind: Literal["container-native"]
    version: str = Field(
        pattern=r"^[0-9]+(\.[0-9]+){3}$",
        description="version of IBM's operator on the cluster, e.g. 5.2.3.1; the cluster administrator installs it",
    )
    cluster_id: ClusterId | None = Field(
        default=None,
        description="id of the workers' cluster, for handles of directories. IBM's operator generates it: None before "
        "the first update, then `status.clusterID` in `kubectl get daemons.scale.spectrum.ibm.com -A -o yaml`",
    )

    @property
    def own_cluster(self) -> str:
        """Id of the workers' cluster, empty while it is not known."""
        return self.cluster_id or ""

    @property
    def known_clusters(self) -> tuple[str, ...]:
        """Ids of the clusters that the driver knows."""
        return (*([self.cluster_id] if self.cluster_id else []), self.remote.id)

    @property
    def accounts(self) -> tuple[str, ...]:
        """Secrets with accounts of the GUI."""
        return tuple(self.remote.secrets)


def _with_kind(value: Any) -> Any:
    """Return the settings of storage with their kind: files from before there were two of them have none."""
    return {"kind": "host-clients", **value} if isinstance(value, Mapping) else value


StorageSettings = Annotated[
    Annotated[HostClientStorage | ContainerNativeStorage, Field(discriminator="kind")], BeforeValidator(_with_kind)
]


class NamedVolume(Model):
    """What every volume of a tenant has."""

    name: DnsLabel = Field(description="name by which programs mount it; they mount `data` where they name none")


class ClaimedVolume(NamedVolume):
    """A volume with a claim in the tenant's namespace."""

    claim: DnsName = Field(description="name of the claim in the namespace of the tenant")
    read_only: bool = Field(default=False, description="whether jobs may only read it")


class ProvisionedVolume(NamedVolume):
    """A volume that a storage class provisions."""

    storage_class: DnsName = Field(description="one of storage.classes, or one that the cluster has")
    capacity: Quantity = Field(description="size that the claim requests; of scratch that of each pod")


class DirectoryVolume(ClaimedVolume):
    """A directory of the data lake, as a static volume."""

    kind: Literal["directory"]
    volume: DnsName = Field(description="volume name, unique in the cluster; only one namespace can use it")
    path: DirectoryPath = Field(description="absolute path of the directory")
    capacity: Quantity = Field(description="nominal: the driver does not enforce it on static volumes")
    labels: dict[str, str] = Field(default_factory=dict, description="further labels of the volume, e.g. dept")
    fileset: FilesetName | Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="name or id of the fileset that the directory is in; None: the handle names none"
    )
    long_handle: bool = Field(
        default=False,
        description="use the seven-part form of the handle, for an independent fileset or a directory. A volume's "
        "handle cannot be changed, so volumes of an older driver keep their form",
    )

    def handle(self, storage: HostClientStorage | ContainerNativeStorage) -> AnyHandle:
        """Return the handle by which the driver finds the directory."""
        where = {"cluster_id": storage.own_cluster, "file_system_uid": storage.file_system.uid, "path": self.path}
        if self.long_handle:
            return LongHandle(**where, independent_fileset=None if self.fileset is None else str(self.fileset))
        return VolumeHandle(**where) if self.fileset is None else FilesetHandle(**where, fileset=self.fileset)


class ClaimVolume(ClaimedVolume, ProvisionedVolume):
    """A claim of any storage class: of Spectrum Scale on demand, or of any other file system."""

    kind: Literal["claim"]
    access_mode: AccessMode = Field(
        default="ReadWriteMany", description="ReadWriteOnce is for jobs on one node, ReadOnlyMany for those that read"
    )


class ScratchVolume(ProvisionedVolume):
    """An empty volume for each pod, which is deleted with it: a generic ephemeral volume, e.g. of LVM Storage."""

    kind: Literal["scratch"]


class LocalVolume(ClaimedVolume, ProvisionedVolume):
    """A folder on one node's NVMe, by a claim that outlives jobs; the first job with it determines the node.

    Its class provisions volumes on the nodes' disks, and binds claims at first use.
    """

    kind: Literal["local"]


Volume = Annotated[DirectoryVolume | ClaimVolume | ScratchVolume | LocalVolume, Field(discriminator="kind")]
"""A volume of a tenant."""


def in_pods(volume: Volume) -> job_volumes.ClaimVolume | job_volumes.ScratchVolume:
    """Return what jobs' pods have of a volume."""
    if isinstance(volume, ScratchVolume):
        return job_volumes.ScratchVolume(kind="scratch", storage_class=volume.storage_class, capacity=volume.capacity)
    only_readable = isinstance(volume, ClaimVolume) and volume.access_mode == "ReadOnlyMany"
    return job_volumes.ClaimVolume(kind="claim", claim=volume.claim, read_only=volume.read_only or only_readable)


LOCKS = "data"
"""Folder of the project that locks are in."""


class DataSetSettings(Choice):
    """One data set of a tenant. `./hpc data select` writes its lock, which you commit: jobs get what is locked."""

    volume: DnsLabel = Field(default=DATA, description="name of the tenant's volume that has the files")
    lock: str | None = Field(
        default=None,
        pattern=r"^(\w[\w.-]*/)*\w[\w.-]*\.lock\.json$",
        description="lock file, relative to the project's folder; None: data/NAME.lock.json",
    )

    link_gbps: float | None = Field(
        default=None,
        gt=0,
        description="slowest link between the source and the volume, Gb/s, for `./hpc hardware show`; None: not known",
    )

    training_minutes: float | None = Field(
        default=None,
        gt=0,
        description="how long a training run with it takes, min: `./hpc hardware show` warns where staging the set "
        "takes longer; the Redpaper's takes 12 with 92 GB. None: not known",
    )

    @property
    def lock_file(self) -> str:
        """The file of the lock, from the project's folder."""
        return self.lock or f"{LOCKS}/{self.name}.lock.json"
