"""Arguments of jobs whose pods, on several nodes, exchange data by NCCL."""

from typing import Self

from pydantic import Field, model_validator

from components.base.topology import LabelKey
from components.jobs.job_args import JobArgs, NetworkName
from components.jobs.layout import Layout
from core.apis.nccl import GdrLevel, Transport

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
