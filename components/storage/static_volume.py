"""A directory of the data lake as a volume of one namespace."""

from typing import Annotated

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field, StringConstraints

from components.base.component import Component
from components.base.model import DnsName, Model, Quantity
from components.storage.scale_csi import ClusterId
from core.apis import names
from core.apis.names import labels

STORAGE_CLASS = "static"
"""A name that no StorageClass has: the claim is bound by name, never provisioned."""


FileSystemUid = Annotated[str, StringConstraints(pattern=r"^[0-9A-F]{8}:[0-9A-F]{8}$")]
DirectoryPath = Annotated[str, StringConstraints(pattern=r"^/[^;]*$")]
"""Without semicolons, which separate the parts of a handle."""
FilesetName = Annotated[str, StringConstraints(pattern=r"^[^;=/\s]+$", max_length=255)]
"""At most 255 characters."""


class _Directory(Model):
    cluster_id: ClusterId = Field(description="local cluster, from mmlscluster")
    file_system_uid: FileSystemUid = Field(description="from mmlsfs --uid")
    path: DirectoryPath = Field(description="directory below the mount point")


class VolumeHandle(_Directory):
    """The handle of a directory for the Spectrum Scale driver; `str()` gives the three-part form."""

    def __str__(self) -> str:
        return f"{self.cluster_id};{self.file_system_uid};path={self.path}"


class FilesetHandle(_Directory):
    """A directory of a fileset, as the drivers of 2020 name it; `str()` gives the four-part form."""

    fileset: FilesetName | Annotated[int, Field(ge=0)] = Field(
        description="its name, or its id as a number, from mmlsfileset"
    )

    def __str__(self) -> str:
        key = "fileset" if isinstance(self.fileset, int) else "filesetName"
        return f"{self.cluster_id};{self.file_system_uid};{key}={self.fileset};path={self.path}"


class LongHandle(_Directory):
    """A directory or an independent fileset for a driver of 2.5 and later; `str()` gives the seven-part form.

    The kind of storage is 0 (classic) and the consistency group empty: static volumes have no other.
    """

    independent_fileset: FilesetName | None = Field(description="name of the fileset; None for a directory")

    def __str__(self) -> str:
        kind = "0" if self.independent_fileset is None else "2"
        fileset = self.independent_fileset or ""
        return f"0;{kind};{self.cluster_id};{self.file_system_uid};;{fileset};{self.path}"


AnyHandle = VolumeHandle | FilesetHandle | LongHandle
"""Three, four or seven parts; every driver reads the first, also of today."""


class StaticVolumeArgs(Model):
    """One volume and its claim."""

    volume_name: DnsName = Field(description="unique in the cluster; only one namespace can use it")
    claim_name: DnsName = Field(description="in the namespace of the volume's user")
    handle: AnyHandle = Field(description="the directory's handle for the driver")
    capacity: Quantity = Field(description="nominal: the driver does not enforce it on static volumes")
    labels: dict[str, str] = Field(default_factory=dict, description="further labels of the volume, e.g. dept")
    protect: bool = Field(default=False, description="refuse to delete; the object is retained in any case")


class StaticVolume(Component):
    """PersistentVolume and PersistentVolumeClaim, bound to each other by name.

    A label selector may bind any volume with the same labels, so each names the other. Data outlives both: the
    reclaim policy is Retain. Outputs: `claim`, known when it is bound.
    """

    claim: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: StaticVolumeArgs,
        namespace: pulumi.Input[str],
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("storage:StaticVolume", name, args, opts)
        own_labels = {**labels(args.volume_name, "storage"), **args.labels}
        core = k8s.core.v1
        keep = {"protect": True, "retain_on_delete": True} if args.protect else {}
        volume = core.PersistentVolume(
            f"{name}-volume",
            metadata=k8s.meta.v1.ObjectMetaArgs(name=args.volume_name, labels=own_labels),
            spec=core.PersistentVolumeSpecArgs(
                storage_class_name=STORAGE_CLASS,
                capacity={"storage": args.capacity},
                access_modes=["ReadWriteMany"],
                persistent_volume_reclaim_policy="Retain",
                claim_ref=core.ObjectReferenceArgs(
                    api_version="v1", kind="PersistentVolumeClaim", name=args.claim_name, namespace=namespace
                ),
                csi=core.CSIPersistentVolumeSourceArgs(driver=names.SCALE_CSI_DRIVER, volume_handle=str(args.handle)),
            ),
            opts=self.child(**keep),
        )
        claim = core.PersistentVolumeClaim(
            f"{name}-claim",
            metadata=k8s.meta.v1.ObjectMetaArgs(name=args.claim_name, namespace=namespace, labels=own_labels),
            spec=core.PersistentVolumeClaimSpecArgs(
                storage_class_name=STORAGE_CLASS,
                access_modes=["ReadWriteMany"],
                resources=core.VolumeResourceRequirementsArgs(requests={"storage": args.capacity}),
                volume_name=volume.metadata.name,
            ),
            opts=self.child(**keep),
        )
        self.outputs(claim=claim.metadata.name)
