"""Volumes that Spectrum Scale creates on demand: dynamic provisioning.

The source documents describe it and print no listing. Names of parameters, and which of them go together, are those of
the driver itself: IBM/ibm-spectrum-scale-csi, driver/csiplugin/gpfs_util.go, where a wrong one fails at the first claim
and not before.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field, StringConstraints, model_validator

from components.base.component import Component, stateful
from components.base.model import DnsName, Model
from components.storage.claim import AccessMode
from components.storage.scale_csi import ClusterId
from components.storage.static_volume import STORAGE_CLASS, FilesetName
from core.apis import names
from core.apis.names import labels

InodeLimit = Annotated[int, Field(ge=1024)]
"""Inodes of a fileset; fewer than 1024 are refused by the driver."""


class IndependentFileset(Model):
    """Each volume is an independent fileset: it has inodes of its own, and a quota that the file system enforces."""

    kind: Literal["independent-fileset"] = "independent-fileset"
    inode_limit: InodeLimit | None = Field(default=None, description="inodes of a volume; None: the driver's choice")

    def parameters(self) -> dict[str, str]:
        """Return the parameters of the class."""
        limit = {"inodeLimit": str(self.inode_limit)} if self.inode_limit is not None else {}
        return {"filesetType": "independent", **limit}


class DependentFileset(Model):
    """Each volume is a fileset that takes its inodes from another one."""

    kind: Literal["dependent-fileset"] = "dependent-fileset"
    parent: FilesetName = Field(description="independent fileset below which the volumes are made")

    def parameters(self) -> dict[str, str]:
        """Return the parameters of the class."""
        return {"filesetType": "dependent", "parentFileset": self.parent}


class Directory(Model):
    """Each volume is a directory, without any quota."""

    kind: Literal["directory"] = "directory"
    base_path: Annotated[str, StringConstraints(pattern=r"^[^/;][^;]*$")] = Field(
        description="existing directory below which the volumes are created, relative to the mount point"
    )

    def parameters(self) -> dict[str, str]:
        """Return the parameters of the class."""
        return {"volDirBasePath": self.base_path}


CacheMode = Literal["readonly", "parallel", "exclusive", "detached"]
"""The driver's words for AFM's modes RO, IW, SW and LU."""


class Cache(Model):
    """Each volume caches a bucket or an export of another store, and fetches files when they are read."""

    kind: Literal["cache"] = "cache"
    mode: CacheMode | None = Field(
        default=None,
        description="what happens to writes: readonly refuses them, parallel writes them back to the source where "
        "others may write as well, exclusive writes them back as the only writer, detached keeps them in the cache. "
        "None: the driver's default, readonly for claims with ReadOnlyMany, else parallel",
    )
    secret: Annotated[str, StringConstraints(pattern=r"^(\$\{pvc\.name\}|[a-z0-9])([-.a-z0-9]*[a-z0-9])?$")] = Field(
        description="Secret in the claim's namespace with endpoint, bucket, accesskey, secretkey, or their NFS "
        "equivalents; ${pvc.name}-secret gives each claim its own"
    )

    def parameters(self) -> dict[str, str]:
        """Return the parameters of the class."""
        return {
            "volumeType": "cache",
            **({"cacheMode": self.mode} if self.mode else {}),
            f"{_SECRET}-name": self.secret,
            f"{_SECRET}-namespace": "${pvc.namespace}",
        }

    def refuses(self, access_mode: AccessMode) -> str | None:
        """Return why the driver makes no volume for a claim with an access mode, with the remedy; None if it does.

        Source: IBM/ibm-spectrum-scale-csi, driver/csiplugin/controllerserver.go, CreateVolume.
        """
        if access_mode == "ReadOnlyMany" and self.mode not in (None, "readonly"):
            return f"mode {self.mode} makes no ReadOnlyMany volumes; set mode readonly, or another access_mode"
        if access_mode != "ReadOnlyMany" and self.mode == "readonly":
            return f"mode readonly makes no {access_mode} volumes; set access_mode ReadOnlyMany, or another mode"
        return None

    def writes_back(self, access_mode: AccessMode) -> bool:
        """Say whether what is written to a volume gets to the source, or hides what the source has."""
        return (self.mode or ("readonly" if access_mode == "ReadOnlyMany" else "parallel")) != "readonly"


_SECRET = "csi.storage.k8s.io/provisioner-secret"  # noqa: S105 - prefix of two parameters' names


class StorageClassFields(Model):
    """One storage class."""

    class_name: DnsName = Field(description="name that claims give; not that of static volumes' class")
    file_system: str = Field(min_length=1, description="file system for the volumes, by its name on the local cluster")
    cluster_id: ClusterId = Field(
        description="cluster that owns the file system; the driver of 2020 needs it for filesets"
    )
    volumes: Annotated[IndependentFileset | DependentFileset | Directory | Cache, Field(discriminator="kind")] = Field(
        default=IndependentFileset(),
        description="what backs a volume; independent filesets, like the driver's own default",
    )
    uid: int | None = Field(default=None, ge=0, description="owner of a volume's root; None: 0, the driver's default")
    gid: int | None = Field(default=None, ge=0, description="group of a volume's root; None: 0")
    permissions: Annotated[str, StringConstraints(pattern=r"^[0-7]{3}$")] | None = Field(
        default=None, description="mode of a volume's root, three octal digits; None: the driver's choice"
    )
    reclaim_policy: Literal["Retain", "Delete"] = Field(
        default="Retain", description="Delete removes the data with its claim; Retain as for static volumes"
    )
    expandable: bool = Field(default=False, description="claims may grow; driver 3 has a resizer for it")

    @model_validator(mode="after")
    def _acceptable(self) -> Self:
        if self.class_name == STORAGE_CLASS:
            raise ValueError(
                f"class_name {STORAGE_CLASS} is not a class: claims of static volumes have it; give another name"
            )
        if self.gid is not None and self.uid is None:
            raise ValueError(f"gid {self.gid} without uid makes root the owner; give uid as well")
        return self


class StorageClassArgs(StorageClassFields):
    """One storage class, and whether it stays."""

    protect: bool = Field(default=False, description="refuse to delete the class")


def parameters(args: StorageClassFields) -> Mapping[str, str]:
    """Return the parameters of the class; all are texts, also numbers."""
    owner = {"uid": args.uid, "gid": args.gid, "permissions": args.permissions}
    return {
        "volBackendFs": args.file_system,
        "clusterId": args.cluster_id,
        **args.volumes.parameters(),
        **{key: str(value) for key, value in owner.items() if value is not None},
    }


class StorageClass(Component):
    """One StorageClass of the Spectrum Scale driver. Outputs: `class_name`, known when it exists."""

    class_name: pulumi.Output[str]

    def __init__(self, name: str, args: StorageClassArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("storage:StorageClass", name, args, opts)
        storage_class = k8s.storage.v1.StorageClass(
            f"{name}-class",
            metadata=k8s.meta.v1.ObjectMetaArgs(name=args.class_name, labels=labels(args.class_name, "storage")),
            provisioner=names.SCALE_CSI_DRIVER,
            parameters=parameters(args),
            reclaim_policy=args.reclaim_policy,
            allow_volume_expansion=args.expandable,
            volume_binding_mode="Immediate",
            opts=self.child(**stateful(protect=args.protect)),
        )
        self.outputs(class_name=storage_class.metadata.name)
