"""Settings of workloads: what runs, where and how far an update follows it."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from apis.nccl import Transport
from components.layout import Layout
from components.model import DnsLabel, DnsName, Image, Model, Seconds
from components.outcome import Wait


class Program(StrEnum):
    """Programs that the platform knows how to start; `stacks/workloads.py` has their command lines."""

    NCCL_ALL_REDUCE = "nccl-all-reduce"
    RESNET50 = "resnet50"
    A2D2 = "a2d2"

    @property
    def trains(self) -> bool:
        """Whether it is training, which takes long and is not repeated lightly, and not verification."""
        return self is not Program.NCCL_ALL_REDUCE


class WorkloadBase(Model):
    """What every workload has."""

    tenant: DnsLabel = Field(description="namespace of the tenant that it runs for")
    wait: Wait | None = Field(
        default=None, description="how far an update follows it; by default verification finished, training started"
    )
    run: int = Field(default=1, ge=1, description="raise it to run the workload again")
    timeout: Seconds = Field(default=3600, description="seconds that an update follows it for")


class RdmaTestWorkload(WorkloadBase):
    """The bandwidth test between two nodes (R-4.1-2)."""

    kind: Literal["rdma-test"]
    name: DnsLabel = "mofed-test-job"
    image: Image
    client_node: DnsName
    server_node: DnsName
    hca: str

    @property
    def job_name(self) -> str:
        """Name of the job on the cluster."""
        return self.name

    @property
    def follow(self) -> Wait:
        """How far an update follows it."""
        return self.wait or Wait.FINISHED


class MpiWorkload(WorkloadBase):
    """A program over GPUs of one or more pods (R-4.3 to R-5.2)."""

    kind: Literal["mpi"]
    name: DnsLabel = Field(description="what the job's name begins with; its layout follows")
    suffix: str = Field(default="", pattern=r"^(-[a-z0-9]+)?$", description="what the job's name ends with")
    program: Program
    layout: Layout
    transport: Transport = Transport.GPUDIRECT
    image: Image
    shm_gib: int = Field(default=8, gt=0, description="GiB; size limit of /dev/shm, part of the pod's memory")
    deadline: Seconds = Field(default=7 * 24 * 3600, description="seconds after which the job is ended")
    on_change: Literal["replace", "keep"] | None = Field(
        default=None,
        description="what a changed spec does: run again at once (by default verification), or wait for the next run",
    )

    @property
    def job_name(self) -> str:
        """Name of the job on the cluster: what, pods x GPUs x nodes (R-4.3-2)."""
        return f"{self.name}-{self.layout}{self.suffix}"

    @property
    def follow(self) -> Wait:
        """How far an update follows it."""
        return self.wait or (Wait.STARTED if self.program.trains else Wait.FINISHED)

    @property
    def changed(self) -> Literal["replace", "keep"]:
        """What a changed spec does."""
        return self.on_change or ("keep" if self.program.trains else "replace")


Workload = Annotated[RdmaTestWorkload | MpiWorkload, Field(discriminator="kind")]


class Stage(Model):
    """Workloads that may run at the same time if they fit; the next stage waits for all of them."""

    name: DnsLabel
    workloads: tuple[Workload, ...] = Field(min_length=1)
