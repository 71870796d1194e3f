"""Setting `site.scale`: Spectrum Scale clients on the hosts, and the cluster that owns the file system."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from core.model import Model, merged_by

ClusterName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$")]
Device = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][\w.-]*$")]
"""A file system as mmlsfs names it."""
HostName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$")]
PLANNED = (
    *("pagepool", "ignorePrefetchLUNCount", "subnets", "verbsRdma", "verbsRdmaSend", "verbsRdmaCm", "verbsPorts"),
    *("enforceFilesetQuotaOnRoot", "controlSetxattrImmutableSELinux"),
)
"""Attributes of mmchconfig that follow from other settings."""
CHOSEN: Mapping[str, str] = {
    "workerThreads": "1024",
    "maxFilesToCache": "1M",
    "maxStatCache": "1M",
    "maxMBpS": "20000",
}
"""Attributes that the Redpaper chooses; `attributes` has others in their place."""


class ScaleNode(Model):
    """A node of the clients' cluster that is not in the stack, e.g. its quorum."""

    name: HostName = Field(description="its admin name")
    roles: tuple[Literal["quorum", "manager", "gui"], ...] = Field(
        default=(), description="whether it is a quorum node, may be a manager of file systems, runs the GUI"
    )


class ScaleSettings(Model):
    """Both clusters: that of the clients, and the one that owns the file system."""

    cluster: ClusterName = Field(description="name of the clients' cluster, as mmlscluster prints it")
    nodes: tuple[ScaleNode, ...] = Field(
        default=(),
        description="its other nodes; at least one is a quorum node",
        json_schema_extra=merged_by("name"),
    )
    owner: ClusterName = Field(description="name of the cluster that owns the file system")
    contact_nodes: tuple[HostName, ...] = Field(
        min_length=1, description="its nodes that clients contact first, by daemon name"
    )
    remote: Device | None = Field(
        default=None, description="name of the file system there; None: storage.file_system.name"
    )
    local: Device | None = Field(default=None, description="name of the file system on the clients; None: the same")
    mount: str = Field(pattern=r"^/[\w./-]+$", description="where clients mount it, e.g. /gpfs/ess3000_4M")
    daemon_domain: HostName | None = Field(
        default=None, description="domain of the nodes' daemon names, where it differs from theirs"
    )
    node_class: str = Field(
        default="gpu",
        pattern=r"^[A-Za-z][\w-]*$",
        description="node class of the GPU hosts, which has their attributes",
    )
    pagepool_gib: int | None = Field(
        default=None, gt=0, description="GiB; None: a quarter of the memory, where GPU nodes reserve at least that"
    )
    attributes: dict[
        Annotated[str, StringConstraints(pattern=r"^[a-z][A-Za-z0-9]*$")],
        Annotated[str, StringConstraints(pattern=r"^[\w./%+-]+$")],
    ] = Field(
        default={},
        description='further attributes of the GPU hosts, as mmchconfig takes them, e.g. autoload: "yes"; maxMBpS is '
        "of all clients. The Redpaper's are workerThreads 1024, maxFilesToCache 1M, maxStatCache 1M, maxMBpS 20000",
    )
    version: str | None = Field(
        default=None,
        pattern=r"^\d+(\.\d+){3}$",
        description="version of the packages, e.g. 5.0.4.3; for IBM's collection",
    )
    packages: str | None = Field(
        default=None,
        pattern=r"^/\S+$",
        description="IBM's installation package on the machine that runs Ansible; for IBM's collection",
    )

    @model_validator(mode="after")
    def _own_attributes(self) -> Self:
        if planned := sorted(self.attributes.keys() & {*PLANNED}):
            raise ValueError(f"attributes: {', '.join(planned)} follows from other settings; leave it out there")
        return self

    @model_validator(mode="after")
    def _distinct_clusters(self) -> Self:
        if self.cluster == self.owner:
            raise ValueError(f"cluster and owner are both {self.cluster}; name the cluster that owns the file system")
        return self

    def daemon_name(self, host: str) -> str:
        """Return the daemon name of a node."""
        return f"{host.partition('.')[0]}.{self.daemon_domain}" if self.daemon_domain else host
