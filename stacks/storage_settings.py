"""Settings of Spectrum Scale, and of what a tenant sees of it."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from components.model import DnsName, Model, Quantity
from components.olm_operator import OlmOperatorArgs
from components.scale_csi import Certificate, ClusterId, ScaleCluster, require_ca, require_own
from components.static_volume import (
    AnyHandle,
    DirectoryPath,
    FilesetHandle,
    FilesetName,
    FileSystemUid,
    LongHandle,
    VolumeHandle,
)
from components.storage_class import StorageClassArgs


class FileSystem(Model):
    """The file system that holds the data lake."""

    name: str = Field(description="R-2.2-4: ess3000_4M")
    uid: FileSystemUid = Field(description="from `mmlsfs NAME --uid` on the local cluster")


class StorageSettings(Model):
    """Spectrum Scale. Which generation of the driver there is follows from the release."""

    operator: OlmOperatorArgs
    host_path: str | None = Field(
        default=None, pattern=r"^/", description="driver 2.0: mount point of the primary file system (R-3.4.5-6)"
    )
    local_cluster: ClusterId | None = Field(
        default=None, description="driver 3: the cluster that the nodes are part of"
    )
    clusters: tuple[ScaleCluster, ...] = Field(
        min_length=1,
        description="those that the driver talks to; for driver 2.0 the nodes' own has the primary fileset",
    )
    ca_certificate: Certificate | None = Field(default=None, description="PEM, of the CA of the GUIs' certificates")
    file_system: FileSystem
    classes: tuple[StorageClassArgs, ...] = Field(default=(), description="of volumes made on demand (R-3.4.5-8)")

    @model_validator(mode="after")
    def _one_local_cluster(self) -> Self:
        if self.local_cluster is None:
            local = [cluster.id for cluster in self.clusters if cluster.primary]
            if len(local) != 1:
                raise ValueError(
                    f"clusters: {len(local)} have a primary fileset; give one to the local cluster alone, or name "
                    "local_cluster (driver 3)"
                )
        else:
            require_own(self.local_cluster, self.clusters)
        return self

    @model_validator(mode="after")
    def _verifiable(self) -> Self:
        require_ca(self.clusters, self.ca_certificate)
        return self

    @property
    def own_cluster(self) -> str:
        """Id of the cluster of the nodes themselves, which begins every volume handle (R-4.2-8)."""
        return self.local_cluster or next(cluster.id for cluster in self.clusters if cluster.primary)


class DirectoryData(Model):
    """A directory of the data lake, as a static volume."""

    kind: Literal["directory"]
    volume: DnsName = Field(description="name of the volume: cluster-wide, one per namespace (R-4.2-3)")
    claim: DnsName = Field(description="name of its claim in the namespace of the tenant (R-4.2-4)")
    path: DirectoryPath = Field(description="directory, absolute")
    capacity: Quantity = Field(description="nominal: the driver does not enforce it on static volumes (E-36)")
    labels: dict[str, str] = Field(
        default_factory=dict, description="further labels of the volume, e.g. dept (R-4.2-2)"
    )
    fileset: FilesetName | Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="name or id of the fileset that the directory is in; None: the handle names none"
    )
    long_handle: bool = Field(
        default=False,
        description="the seven-part form of the handle, for an independent fileset or a directory. A volume's handle "
        "cannot be changed, so volumes of an older driver keep the form that they have",
    )

    def handle(self, storage: StorageSettings) -> AnyHandle:
        """Return what the driver finds the directory by."""
        where = {"cluster_id": storage.own_cluster, "file_system_uid": storage.file_system.uid, "path": self.path}
        if self.long_handle:
            return LongHandle(**where, independent_fileset=None if self.fileset is None else str(self.fileset))
        return VolumeHandle(**where) if self.fileset is None else FilesetHandle(**where, fileset=self.fileset)


class ClaimData(Model):
    """A volume of a storage class: of Spectrum Scale on demand, or of any other file system (D-3.1, B-8.1)."""

    kind: Literal["claim"]
    claim: DnsName = Field(description="name of the claim in the namespace of the tenant")
    storage_class: DnsName = Field(description="of storage.classes, or one that the cluster has")
    capacity: Quantity = Field(description="what the claim asks for")


Data = Annotated[DirectoryData | ClaimData, Field(discriminator="kind")]
"""What a tenant sees at /workspace."""
