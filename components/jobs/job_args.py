"""Arguments of jobs of every kind, of one pod or of many, joined by NCCL or not."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from components.base.model import DnsLabel, DnsName, Image, Model, Quantity, Seconds
from components.base.scheduling import LabelKey, Toleration
from components.base.timeouts import DEFAULTS
from components.jobs.job_volumes import JobVolume, Mount
from components.jobs.layout import Layout
from components.jobs.outcome import Wait
from components.jobs.resilience import NOTHING, Resilience
from components.storage.data_set import LockedData
from core.apis import names
from core.apis.nccl import GdrLevel, Transport

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
    gpu_claim: DnsName | None = Field(
        default=None,
        description="ResourceClaimTemplate of the namespace by which each such pod gets its GPUs; None: it requests "
        "nvidia.com/gpu",
    )
    ports: dict[PortName, Port] = Field(default={}, description="on which the program of such a pod listens, by name")
    shm: Quantity = Field(default="8Gi", description="size limit of /dev/shm")
    resilience: Resilience = Field(
        default=NOTHING, description="what it does about the loss of a rank, a pod or a node"
    )
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


_FIXED = frozenset({"NCCL_IB_DISABLE", "NCCL_NET_GDR_LEVEL", "NCCL_IB_HCA", "LD_LIBRARY_PATH", "PATH"})
"""Variables that `transport`, `gdr_level`, `ib_hca` and the image decide."""


class SpanningJobArgs(JobArgs):
    """What jobs of several pods have."""

    command: tuple[str, ...] = Field(min_length=1, description="what the launcher starts")
    layout: Layout
    processes_per_pod: int = Field(gt=0, description="1 for programs that drive all GPUs of a pod, else one per GPU")
    transport: Transport = Field(description="how NCCL moves data between nodes")
    gdr_level: GdrLevel = Field(
        default="PIX", description="of NCCL_NET_GDR_LEVEL; core.hardware.topology.gpudirect_level of the machine"
    )
    ib_hca: str | None = Field(
        default=None,
        pattern=r"^=\w+(,\w+)*$",
        description="NCCL_IB_HCA; topology.nccl_ib_hca of the ports; None lets NCCL use every HCA",
    )
    rdma_resources: tuple[str, ...] = Field(default=(), description="of which every pod takes one each")
    required_topology: LabelKey | None = Field(
        default=None, description="label of nodes: with a queue, all pods run on nodes with one value of it, or wait"
    )
    preferred_topology: LabelKey | None = Field(
        default=None, description="the same, if there is room; otherwise on as few values as possible"
    )
    networks: tuple[NetworkName, ...] = Field(default=(), description="secondary networks that pods join")
    compute_domain: bool = Field(
        default=False,
        description="give the job a ComputeDomain: its GPUs on several nodes of a rack share memory over NVLink",
    )

    @property
    def fixed(self) -> frozenset[str]:
        """Variables that a job of this kind sets itself."""
        return _FIXED

    @property
    def rdma(self) -> tuple[str, ...]:
        """The RDMA resources that a pod really takes: none where the transport does without."""
        return self.rdma_resources if self.transport.uses_rdma else ()

    def nccl(self, *, words: bool) -> dict[str, str]:
        """Return NCCL's variables; `words`: as today's versions have them (`Transport.environment`)."""
        transport = self.transport.environment(self.gdr_level, words=words)
        named = {"NCCL_IB_HCA": self.ib_hca} if self.ib_hca and self.transport.uses_rdma else {}
        return {"NCCL_DEBUG": "INFO", **transport, **self.environment, **named}

    @model_validator(mode="after")
    def _one_topology(self) -> Self:
        if self.required_topology and self.preferred_topology:
            raise ValueError(f"preferred_topology {self.preferred_topology}: required_topology is given; leave it out")
        return self

    @model_validator(mode="after")
    def _transport(self) -> Self:
        if self.transport.uses_rdma and not self.rdma_resources:
            raise ValueError(
                f"transport {self.transport} needs RDMA devices, and rdma_resources is empty; "
                f"use {Transport.TCP}, or name the resources"
            )
        for name in sorted(self.fixed & self.environment.keys()):
            raise ValueError(
                f"environment: {name}={self.environment[name]} would override what transport {self.transport}, the "
                "image or the pod itself sets; leave it out, or use another transport"
            )
        return self
