"""Arguments of an MPI job, of every API generation."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Self

from pydantic import Field, model_validator

from components.base.model import DnsName, Model, Seconds
from components.base.scheduling import Toleration
from components.fabric import gid_index
from components.jobs.job_args import Folder, RunAs, SpanningJobArgs
from components.tenants.tenant import ContainerResources
from core.apis.kinds import MPI_JOB_V1ALPHA2, MPI_JOB_V2BETA1, Kind

__all__ = ["MpiJobArgs", "RunAs", "V2Beta1"]

GENERATIONS = (MPI_JOB_V1ALPHA2.version, MPI_JOB_V2BETA1.version)
LABEL_LENGTH = 63
HOSTFILES = "/etc/mpi"
"""Where the operator of v2beta1 mounts the list of workers."""


class V2Beta1(Model):
    """What only jobs of API generation v2beta1 support."""

    queue: DnsName | None = Field(
        default=None, description="LocalQueue of the namespace; Kueue then decides when the job starts"
    )
    suspend: bool = Field(default=False, description="create the job suspended; not with a queue")
    ttl: Seconds | None = Field(
        default=None, description="seconds after which the finished launcher is deleted, with its log; None keeps it"
    )
    start_timeout: Seconds = Field(
        default=1800, description="with a queue or restarts: seconds that a launcher waits for sshd on the workers"
    )
    ssh_port: int = Field(default=2222, ge=1024, le=65535, description="of the workers' sshd, which is not root")
    home: Folder = Field(default="/home/mpi", description="home of the processes' user; keys are in .ssh there")
    roce_ports: tuple[str, ...] = Field(
        default=(), description="ports that are Ethernet, e.g. mlx5_0: each worker looks for its own address on them"
    )
    launcher: ContainerResources = Field(
        default=ContainerResources(cpu="500m", memory="1Gi"),
        description="request and limit of the launcher, which Kueue counts; a choice. A whole CPU would be pinned",
    )


class MpiJobArgs(SpanningJobArgs):
    """One job."""

    kind: Kind = Field(description="API generation, from the release")
    debug: bool = Field(default=False, description="log how Open MPI starts and connects processes")
    launcher_tolerations: tuple[Toleration, ...] = Field(
        default=(), description="taints that its launcher tolerates, where there are no nodes without GPUs"
    )
    v2beta1: V2Beta1 = Field(default=V2Beta1(), description="what no other API generation knows")

    @property
    def fixed(self) -> frozenset[str]:
        """Variables that the job sets itself: on RoCE each pod also finds its GID index."""
        return super().fixed | ({gid_index.NCCL} if self.v2beta1.roce_ports else set())

    @property
    def own_ports(self) -> Mapping[str, int]:
        """The workers' sshd, which only v2beta1 has."""
        return {"ssh": self.v2beta1.ssh_port} if self.kind.version == MPI_JOB_V2BETA1.version else {}

    @model_validator(mode="after")
    def _leaves_its_files_alone(self) -> Self:
        if self.kind.version != MPI_JOB_V2BETA1.version:
            return self
        for place in self.mounts:
            for own in (f"{self.v2beta1.home}/.ssh", HOSTFILES):
                if PurePosixPath(own).is_relative_to(place) or PurePosixPath(place).is_relative_to(own):
                    raise ValueError(
                        f"mounts: {place} hides {own}, by which mpirun reaches workers; mount it elsewhere"
                    )
        return self

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
