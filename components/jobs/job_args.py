"""Arguments of jobs of every kind, of one pod or of many."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from components.base.model import DnsLabel, DnsName, Image, Model, Quantity, Seconds
from components.base.timeouts import DEFAULTS
from components.base.tolerations import Toleration
from components.base.topology import LabelKey
from components.jobs.job_volumes import JobVolume, Mount
from components.jobs.outcome import Wait
from components.storage.data_set import LockedData
from core.apis import names

Folder = Annotated[str, StringConstraints(pattern=r"^/\w[\w/.-]*$")]
"""An absolute path in a container."""


Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""Name of an environment variable."""
NetworkName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][-a-z0-9./]*(@[a-z0-9]+)?$")]
"""A NetworkAttachmentDefinition: [namespace/]name[@interface]."""


PortName = Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]{0,13}[a-z0-9])?$")]
"""Name of a port, as a Service or a monitor refers to it: an IANA service name of at most 15 characters."""
Port = Annotated[int, Field(ge=1024, le=65535)]
ResourceName = Annotated[
    str,
    StringConstraints(pattern=r"^(ephemeral-storage|hugepages-[0-9]+[MG]i|[a-z0-9.-]+\.[a-z0-9-]+/[A-Za-z0-9_.-]+)$"),
]
"""A node resource other than CPUs and memory."""


class RunAs(Model):
    """User and group of the job's processes."""

    uid: int = Field(gt=0, description="inside the namespace's range, and owner of the data")
    gid: int = Field(gt=0, description="group of the data directory")


class JobChoices(Model):
    """What a workload chooses of its job, as settings and the component have it."""

    environment: dict[Variable, str] = Field(default={}, description="further variables of the program")
    node: DnsName | None = Field(default=None, description="the only node that its pods with GPUs may run on")
    fit_nodes: bool = Field(
        default=False, description="keep its pods with GPUs off nodes that are marked as unfit (docs/guide/gpus.md)"
    )
    deadline: Seconds = Field(default=7 * 24 * 3600, description="seconds after which the job is stopped")


class JobArgs(JobChoices):
    """What jobs of all kinds have."""

    namespace: DnsLabel = Field(description="where it runs")
    job_name: DnsLabel = Field(description="of the object, and of its container")
    node_labels: dict[LabelKey, str] = Field(default={}, description="of the nodes that its pods with GPUs may run on")
    tolerations: tuple[Toleration, ...] = Field(
        default=(), description="taints of those nodes, which its pods with GPUs tolerate"
    )
    command: tuple[str, ...] = Field(default=(), description="the program, with its arguments; empty: the image's own")
    working_directory: Folder | None = Field(default=None, description="None: the image's own")
    image: Image = Field(description="image of its pods")
    pull_secrets: tuple[DnsName, ...] = Field(default=(), description="Secrets with accounts of registries")
    account: DnsName = Field(description="service account of the pods that have GPUs")
    run_as: RunAs
    volumes: dict[DnsLabel, JobVolume] = Field(default={}, description="of its pods, beside shared memory, by name")
    mounts: dict[Folder, Mount] = Field(
        default={}, description="where they are mounted: folder in the container -> volume, or a folder of `data`"
    )
    runtime_environment: dict[Variable, str] = Field(
        default={},
        description="what the container runtime's hook reads, where it reads nothing else: NVIDIA_DRIVER_CAPABILITIES "
        "and NVIDIA_REQUIRE_CUDA on OpenShift 3.11",
    )
    data_set: LockedData | None = Field(
        default=None, description="what it reads: every pod proves that it sees it, before the program starts"
    )
    priority_class: DnsName | None = Field(default=None, description="of its pods; None: the cluster's default")
    cpus: int = Field(gt=0, description="limit of a pod with GPUs; whole CPUs, so that the kubelet can pin them")
    memory: Quantity = Field(description="limit of such a pod; pinned memory and /dev/shm count against it")
    further: dict[ResourceName, Quantity] = Field(default={}, description="limits of other resources of such a pod")
    ports: dict[PortName, Port] = Field(default={}, description="on which the program of such a pod listens, by name")
    shm: Quantity = Field(default="8Gi", description="size limit of /dev/shm")
    backoff_limit: int = Field(default=0, ge=0, description="retries; a retried verification hides what it found")
    run: int = Field(default=1, ge=1, description="raise it to run the job again")
    on_change: Literal["replace", "keep"] = Field(
        default="replace", description="what a changed spec does: run again at once, or wait for the next run"
    )
    wait: Wait = Field(default=Wait.FINISHED, description="how far an update follows the job")
    timeout: Seconds = Field(default=DEFAULTS.job, description="seconds to follow the job for")

    @model_validator(mode="after")
    def _mounts_what_it_has(self) -> Self:
        for place, mount in self.mounts.items():
            if mount.volume not in self.volumes:
                volumes = ", ".join(self.volumes) or "none"
                raise ValueError(f"mounts: {place} is of volume {mount.volume}, which the job lacks; known: {volumes}")
        return self

    @property
    def own_ports(self) -> Mapping[str, int]:
        """Ports that a job of this kind has itself, by name."""
        return {}

    @model_validator(mode="after")
    def _listens_once(self) -> Self:
        listening = dict(self.own_ports)
        for name, number in self.ports.items():
            for other, port in listening.items():
                if name == other or number == port:
                    raise ValueError(
                        f"ports: {name} {number}: {other} has port {port}; give it another name and number"
                    )
            listening[name] = number
        return self

    @model_validator(mode="after")
    def _leaves_devices_to_others(self) -> Self:
        for name in self.further:
            if name == names.GPU_RESOURCE or name.startswith(names.RDMA_PREFIX):
                raise ValueError(f"resources.further: {name} goes with the layout and the transport; leave it out")
        return self

    @model_validator(mode="after")
    def _leaves_gpus_to_the_plugin(self) -> Self:
        visible = self.runtime_environment.get(_VISIBLE)
        if visible is not None:
            raise ValueError(
                f"runtime_environment: {_VISIBLE}={visible}: the device plugin sets which GPUs a container sees; "
                "leave it out"
            )
        return self


_VISIBLE = "NVIDIA_VISIBLE_DEVICES"
