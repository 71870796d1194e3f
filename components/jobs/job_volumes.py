"""Volumes of a job's pods, and where its containers have them."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from components.base.model import DnsLabel, DnsName, Model, Quantity

DATA = "data"
"""Name of the volume that a mount means which names none."""
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - shared memory, not a temp file
RESERVED = frozenset({"dshm", "ssh", "ssh-auth", "mpi-job-config", "kube-api-access"})
"""Volumes that jobs and operators give their pods themselves."""


def _below_the_volume(folder: str) -> str:
    path = PurePosixPath(folder)
    if path.is_absolute() or ".." in path.parts:
        raise ValueError("leaves the volume, which Kubernetes refuses; write a path from its root, e.g. sets/train")
    return folder


VolumeFolder = Annotated[str, AfterValidator(_below_the_volume)]
"""A folder of a volume, from its root; empty: all of it."""


class MountOptions(Model):
    """What is mounted at a folder of the container."""

    volume: DnsLabel = Field(default=DATA, description="name of one of the tenant's volumes")
    folder: VolumeFolder = Field(default="", description="folder of the volume, from its root; empty: all of it")
    read_only: bool = Field(default=False, description="whether the program may not write there")


def _with_volume(value: Any) -> Any:
    """Return a mount as it is written in full: a plain text is a folder of the volume `data`."""
    return {"folder": value} if isinstance(value, str) else value


Mount = Annotated[MountOptions, BeforeValidator(_with_volume, json_schema_input_type=str | MountOptions)]
"""A mount, or a text: the folder of the volume `data`."""


class ClaimVolume(Model):
    """A claim of the namespace."""

    kind: Literal["claim"]
    claim: DnsName = Field(description="its name")
    read_only: bool = Field(default=False, description="no container may write to it")

    def source(self) -> dict[str, Any]:
        """Return the volume's source in a pod."""
        return {"persistentVolumeClaim": {"claimName": self.claim, **({"readOnly": True} if self.read_only else {})}}


class ScratchVolume(Model):
    """An empty volume for each pod, made by a class and deleted with the pod."""

    kind: Literal["scratch"]
    storage_class: DnsName = Field(description="class that provisions the volume; never the cluster's default")
    capacity: Quantity = Field(description="bytes that each pod gets, e.g. 500Gi")
    read_only: Literal[False] = Field(default=False, description="no one could write to it otherwise")

    def source(self) -> dict[str, Any]:
        """Return the volume's source in a pod: a generic ephemeral volume."""
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": self.storage_class,
            "resources": {"requests": {"storage": self.capacity}},
        }
        return {"ephemeral": {"volumeClaimTemplate": {"spec": spec}}}


JobVolume = Annotated[ClaimVolume | ScratchVolume, Field(discriminator="kind")]


def mounts(volumes: Mapping[str, ClaimVolume | ScratchVolume], options: Mapping[str, MountOptions]) -> list[Any]:
    """Return the `volumeMounts` of a container."""
    return [
        {
            "name": mount.volume,
            "mountPath": place,
            **({"subPath": mount.folder} if mount.folder else {}),
            **({"readOnly": True} if mount.read_only or volumes[mount.volume].read_only else {}),
        }
        for place, mount in options.items()
    ]


def sources(volumes: Mapping[str, ClaimVolume | ScratchVolume]) -> list[Any]:
    """Return the `volumes` of a pod."""
    return [{"name": name, **volume.source()} for name, volume in volumes.items()]
