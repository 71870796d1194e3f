"""What an MPI job is to be, in every API generation."""

from typing import Literal, Self

from pydantic import Field, model_validator

from apis.kinds import MPI_JOB_V1ALPHA2, MPI_JOB_V2BETA1, Kind
from apis.nccl import GdrLevel, Transport
from components.layout import Layout
from components.model import DnsLabel, DnsName, Image, Model, Quantity, Seconds
from components.outcome import Wait

GENERATIONS = (MPI_JOB_V1ALPHA2.version, MPI_JOB_V2BETA1.version)
LABEL_LENGTH = 63

WORKSPACE = "/workspace"


class RunAs(Model):
    """User and group of the worker processes."""

    uid: int = Field(gt=0, description="inside the namespace's range, and owner of the data (R-4.3-6)")
    gid: int = Field(gt=0)


class V2Beta1(Model):
    """What only jobs of API generation v2beta1 can be told."""

    queue: DnsName | None = Field(
        default=None, description="LocalQueue of the namespace; Kueue then decides when the job starts"
    )
    suspend: bool = Field(default=False, description="make the job and start nothing; not with a queue")
    ttl: Seconds | None = Field(
        default=None, description="seconds after which the ended launcher is deleted, with its log; None keeps it"
    )
    ssh_port: int = Field(default=2222, ge=1024, le=65535, description="of the workers' sshd, which is not root (E-16)")
    home: str = Field(
        default="/home/mpi", pattern=r"^/[\w/.-]*\w$", description="home of the processes' user; keys are in .ssh there"
    )


class MpiJobArgs(Model):
    """One job."""

    kind: Kind = Field(description="API generation, from the release")
    namespace: DnsLabel
    job_name: DnsLabel
    layout: Layout
    processes_per_pod: int = Field(gt=0, description="1 for programs that drive all GPUs of a pod, else one per GPU")
    transport: Transport
    gdr_level: GdrLevel = Field(
        default="PIX", description="of NCCL_NET_GDR_LEVEL; hardware.topology.gpudirect_level of the machine (E-30)"
    )
    ib_hca: str | None = Field(
        default=None,
        pattern=r"^=\w+(,\w+)*$",
        description="NCCL_IB_HCA; hardware.topology.nccl_ib_hca of the ports; None lets NCCL take all that it finds",
    )
    command: tuple[str, ...] = Field(min_length=1, description="what mpirun starts")
    working_directory: str | None = Field(default=None, pattern=r"^/")
    image: Image
    account: DnsName = Field(description="service account of the workers")
    run_as: RunAs
    claim: DnsName = Field(description=f"persistent volume claim, mounted at {WORKSPACE}")
    rdma_resources: tuple[str, ...] = Field(description="of which every worker takes one each (R-3.4.2-7)")
    cpus: int = Field(gt=0, description="limit of a worker; whole CPUs, so that the kubelet can pin them")
    memory: Quantity = Field(description="limit of a worker; pinned memory and /dev/shm count against it")
    shm: Quantity = Field(default="8Gi", description="size limit of /dev/shm")
    backoff_limit: int = Field(default=0, ge=0, description="retries; a retried verification hides what it found")
    deadline: Seconds = Field(default=7 * 24 * 3600, description="seconds after which the job is ended")
    run: int = Field(default=1, ge=1, description="raise it to run the job again")
    on_change: Literal["replace", "keep"] = Field(
        default="replace", description="what a changed spec does: run again at once, or wait for the next run"
    )
    wait: Wait = Wait.FINISHED
    timeout: Seconds = Field(default=3600, description="seconds to follow the job for")
    v2beta1: V2Beta1 = Field(default=V2Beta1(), description="what no other API generation knows")

    @model_validator(mode="after")
    def _generation(self) -> Self:
        version = self.kind.version
        if version not in GENERATIONS:
            raise ValueError(f"kind: MPIJob {version} is not built; known: {', '.join(GENERATIONS)}")
        if version != MPI_JOB_V2BETA1.version:
            if self.v2beta1 != V2Beta1():
                raise ValueError(f"v2beta1: MPIJob {version} has no queue, suspension, ttl or sshd; leave it out")
            return self
        last = f"{self.job_name}-worker-{self.layout.pods - 1}"
        if len(last) > LABEL_LENGTH or not last[0].isalpha():
            raise ValueError(
                f"job_name: {last} must be a DNS-1035 label, or the operator makes no pod; shorten {self.job_name} to"
                f" {LABEL_LENGTH - len(last) + len(self.job_name)} characters and begin it with a letter"
            )
        if self.v2beta1.queue and self.v2beta1.suspend:
            raise ValueError("v2beta1.suspend: with a queue Kueue suspends and resumes the job; leave it out")
        return self
