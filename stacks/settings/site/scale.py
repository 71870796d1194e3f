"""Setting `site.scale`: Spectrum Scale clients on the hosts, and the cluster that owns the file system."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from core.model import Model, merged_by

ClusterName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$")]
Device = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][\w.-]*$")]
"""A file system as mmlsfs names it."""
HostName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$")]
Number = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*[KM]?$")]
"""A number of mmchconfig, e.g. 1M."""

PLANNED = (
    *("pagepool", "workerThreads", "ignorePrefetchLUNCount", "maxFilesToCache", "maxStatCache", "subnets"),
    *("verbsRdma", "verbsRdmaSend", "verbsRdmaCm", "verbsPorts"),
    *("maxMBpS", "enforceFilesetQuotaOnRoot", "controlSetxattrImmutableSELinux"),
)
"""Attributes of mmchconfig that are written anyway."""


class ScaleTuning(Model):
    """Attributes of the GPU hosts' clients, as mmchconfig takes them; defaults are the Redpaper's."""

    pagepool_gib: int | None = Field(
        default=None, gt=0, description="GiB; None: a quarter of the memory, where GPU nodes reserve at least that"
    )
    worker_threads: int = Field(default=1024, gt=0, description="workerThreads")
    max_files_to_cache: Number = Field(default="1M", description="maxFilesToCache")
    max_stat_cache: Number = Field(default="1M", description="maxStatCache")
    max_mb_per_s: int = Field(default=20000, gt=0, description="maxMBpS of all clients: MB/s that each reads ahead")
    more: dict[
        Annotated[str, StringConstraints(pattern=r"^[a-z][A-Za-z0-9]*$")],
        Annotated[str, StringConstraints(pattern=r"^[\w./%+-]+$")],
    ] = Field(default={}, description='further attributes of the GPU hosts, e.g. autoload: "yes"')

    @model_validator(mode="after")
    def _further(self) -> Self:
        if planned := sorted(self.more.keys() & {*PLANNED}):
            raise ValueError(f"more: {', '.join(planned)} follows from other settings; leave it out there")
        return self


class ScaleNode(Model):
    """A node of the clients' cluster that is not in the stack, e.g. its quorum."""

    name: HostName = Field(description="its admin name")
    quorum: bool = Field(default=False, description="is a quorum node")
    manager: bool = Field(default=False, description="may be a manager of file systems")
    gui: bool = Field(default=False, description="runs the GUI")


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
    automount: Literal["yes", "no", "automount"] = Field(
        default="yes", description="mount it when a client starts, never, or at the first access"
    )
    daemon_domain: HostName | None = Field(
        default=None, description="domain of the nodes' daemon names, where it differs from theirs"
    )
    node_class: str = Field(
        default="gpu",
        pattern=r"^[A-Za-z][\w-]*$",
        description="node class of the GPU hosts, which has their attributes",
    )
    tuning: ScaleTuning = ScaleTuning()
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
    def _two_clusters(self) -> Self:
        if self.cluster == self.owner:
            raise ValueError(f"cluster and owner are both {self.cluster}; name the cluster that owns the file system")
        return self

    def daemon_name(self, host: str) -> str:
        """Return the daemon name of a node."""
        return f"{host.partition('.')[0]}.{self.daemon_domain}" if self.daemon_domain else host
