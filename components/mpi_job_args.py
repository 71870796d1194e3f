"""Arguments of an MPI job, of every API generation."""

from typing import Self

from pydantic import Field, model_validator

from apis.kinds import MPI_JOB_V1ALPHA2, MPI_JOB_V2BETA1, Kind
from apis.nccl import GdrLevel, Transport
from components import gid_index
from components.job_args import WORKSPACE, Folder, JobArgs, NetworkName, RunAs
from components.layout import Layout
from components.model import DnsName, Model, Seconds
from components.tenant import ContainerResources

__all__ = ["WORKSPACE", "MpiJobArgs", "RunAs", "V2Beta1"]

GENERATIONS = (MPI_JOB_V1ALPHA2.version, MPI_JOB_V2BETA1.version)
LABEL_LENGTH = 63

FIXED = frozenset({"NCCL_IB_DISABLE", "NCCL_NET_GDR_LEVEL", "NCCL_IB_HCA", "LD_LIBRARY_PATH", "PATH"})
"""Variables that `transport`, `gdr_level`, `ib_hca` and the image decide; on RoCE each pod also finds its GID index."""


class V2Beta1(Model):
    """What only jobs of API generation v2beta1 support."""

    queue: DnsName | None = Field(
        default=None, description="LocalQueue of the namespace; Kueue then decides when the job starts"
    )
    suspend: bool = Field(default=False, description="make the job and start nothing; not with a queue")
    ttl: Seconds | None = Field(
        default=None, description="seconds after which the finished launcher is deleted, with its log; None keeps it"
    )
    start_timeout: Seconds = Field(
        default=1800, description="with a queue: seconds that the launcher waits for sshd on the workers"
    )
    ssh_port: int = Field(default=2222, ge=1024, le=65535, description="of the workers' sshd, which is not root (E-16)")
    home: Folder = Field(default="/home/mpi", description="home of the processes' user; keys are in .ssh there")
    roce_ports: tuple[str, ...] = Field(
        default=(), description="ports that are Ethernet, e.g. mlx5_0: each worker looks for its own address on them"
    )
    launcher: ContainerResources = Field(
        default=ContainerResources(cpu="500m", memory="1Gi"),
        description="request and limit of the launcher, which Kueue counts; a choice. A whole CPU would be pinned",
    )


class MpiJobArgs(JobArgs):
    """One job."""

    command: tuple[str, ...] = Field(min_length=1, description="what mpirun starts")
    kind: Kind = Field(description="API generation, from the release")
    layout: Layout
    processes_per_pod: int = Field(gt=0, description="1 for programs that drive all GPUs of a pod, else one per GPU")
    transport: Transport = Field(description="how NCCL moves data between nodes (R-4.3-4)")
    gdr_level: GdrLevel = Field(
        default="PIX", description="of NCCL_NET_GDR_LEVEL; hardware.topology.gpudirect_level of the machine (E-30)"
    )
    ib_hca: str | None = Field(
        default=None,
        pattern=r"^=\w+(,\w+)*$",
        description="NCCL_IB_HCA; hardware.topology.nccl_ib_hca of the ports; None lets NCCL take all that it finds",
    )
    rdma_resources: tuple[str, ...] = Field(default=(), description="of which every worker takes one each (R-3.4.2-7)")
    networks: tuple[NetworkName, ...] = Field(default=(), description="secondary networks that workers join (B-7.2)")
    debug: bool = Field(default=False, description="log how Open MPI starts and connects processes (B-6.2)")
    v2beta1: V2Beta1 = Field(default=V2Beta1(), description="what no other API generation knows")

    @model_validator(mode="after")
    def _generation(self) -> Self:
        version = self.kind.version
        if version not in GENERATIONS:
            raise ValueError(f"kind: MPIJob {version} is not supported; known: {', '.join(GENERATIONS)}")
        if version != MPI_JOB_V2BETA1.version:
            if self.v2beta1 != V2Beta1():
                raise ValueError(
                    f"v2beta1: MPIJob {version} does not support queue, suspension, ttl, launcher or sshd; leave it out"
                )
            return self
        last = f"{self.job_name}-worker-{self.layout.pods - 1}"
        if len(last) > LABEL_LENGTH or not last[0].isalpha():
            raise ValueError(
                f"job_name: {last} must be a DNS-1035 label, or the operator makes no pod; shorten {self.job_name} to"
                f" {LABEL_LENGTH - len(last) + len(self.job_name)} characters and start it with a letter"
            )
        if self.v2beta1.queue and self.v2beta1.suspend:
            raise ValueError("v2beta1.suspend: with a queue Kueue suspends and resumes the job; leave it out")
        return self

    @model_validator(mode="after")
    def _transport(self) -> Self:
        if self.transport.uses_rdma and not self.rdma_resources:
            raise ValueError(
                f"transport {self.transport} needs RDMA devices, and rdma_resources is empty; "
                f"use {Transport.TCP}, or name the resources"
            )
        fixed = FIXED | ({gid_index.NCCL} if self.v2beta1.roce_ports else set())
        for name in sorted(fixed & self.environment.keys()):
            raise ValueError(
                f"environment: {name}={self.environment[name]} would override what transport {self.transport}, the "
                "image or the pod itself sets; leave it out, or use another transport"
            )
        return self
