"""What was requested of a job, and what its logs prove."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from pydantic import Field

from core.apis.names import LISTENER
from core.apis.nccl import Transport
from core.goodput import GoodputLines
from core.hardware import profiles
from core.hardware.profiles import PROFILES, Profile
from core.metric import Metric
from core.model import Model
from toolkit.evidence.model import Reading

Fabric = Literal["infiniband", "roce", "ethernet", "none"]
RDMA_TEST = "rdma-test"
"""What the bandwidth test is called among the programs."""
RDMA_LISTENER = f"{RDMA_TEST}{LISTENER}"
"""What its side that listens is called, among what prints a tool's output."""


class Shape(Model):
    """Worker pods of a job and GPUs of each, e.g. 02x08."""

    pods: int = Field(gt=0)
    gpus: int = Field(gt=0, description="GPUs of a pod")

    def __str__(self) -> str:
        """Return pods x GPUs, two digits each."""
        return f"{self.pods:02d}x{self.gpus:02d}"

    @property
    def total(self) -> int:
        """GPUs, so ranks, of the job."""
        return self.pods * self.gpus


class Data(Model):
    """The data set of a job, as its lock has it, and what the job does with it."""

    name: str
    digest: str = Field(description="SHA-256 of its list, hex")
    files: int
    bytes: int
    role: Literal["stages", "reads", "slices", "reduces"]
    slices: int | None = Field(default=None, description="parts that it is divided into; None: not divided")
    slice: int | None = Field(default=None, description="the part of this job; None: all of them, or not divided")


class Request(Model):
    """What a job was to be: its criteria follow from this, never from what it printed."""

    job: str = Field(description="namespace/name on a cluster; for files the name that the user gave")
    program: str | None = Field(default=None, description="its name (docs/reference/programs.md); None: not known")
    prints: tuple[str, ...] = Field(default=(), description="tools whose output the program prints, and nccl")
    metrics: tuple[Metric, ...] = Field(default=(), description="figures that the program prints of itself")
    goodput: GoodputLines | None = Field(
        default=None, description="lines that show its progress, and the goodput that is required; None: not known"
    )
    data: Data | None = Field(default=None, description="data set that it reads; None: none, or not known")
    profile: str | None = Field(default=None, description="hardware profile of its nodes; None: not known")
    own_machine: str | None = Field(
        default=None,
        description="that profile as JSON, where a stack brings it along; None: of core/hardware/machines",
    )
    fabric: Fabric | None = None
    shape: Shape | None = Field(default=None, description="None: a job without GPUs, or not known")
    nodes: tuple[str, ...] = Field(default=(), description="on which its pods with GPUs ran; empty: not known")
    roles: Mapping[str, tuple[str, ...]] = Field(
        default={}, description="node -> its roles, of all nodes of the settings; empty: not known"
    )
    taints: tuple[str, ...] | None = Field(
        default=None, description="taints that its nodes are to have, as KEY=VALUE:EFFECT; None: not known"
    )
    divided: Mapping[str, Mapping[str, int]] = Field(
        default={}, description="node -> size of MIG instances -> how many; of nodes whose GPUs are not whole"
    )
    systems: Mapping[str, str] = Field(
        default={}, description="node -> its operating system by the settings, RHCOS or RHEL with its release"
    )
    peers: tuple[str, ...] = Field(default=(), description="nodes of other jobs that it talks to")
    transport: Transport | None = Field(default=None, description="between nodes; None: one node, or not known")
    nvlink_nodes: Literal["all", "some"] | None = Field(
        default=None,
        description="whether NVLink is to join all of its nodes, or those of each rack, by a ComputeDomain; None: none",
    )
    sharp: bool = Field(default=False, description="whether in-network reduction (CollNet) is to be in use")
    pod_mtu: int | None = Field(default=None, description="bytes that pods' eth0 must take; None: not set")
    port_mtu: int | None = Field(default=None, description="bytes that the ports of RoCE must take; None: not set")
    operator_driver: bool | None = Field(
        default=None, description="whether an operator brings the GPU driver, and hosts have none; None: not known"
    )
    feature_labels: bool = Field(default=False, description="whether node feature discovery is to label GPU nodes")
    hca_shares: int | None = Field(default=None, description="pods that may share an HCA of a node; None: not known")
    devices: tuple[str, ...] = Field(default=(), description="HCAs for use between nodes; empty: none, or not known")

    @property
    def machine(self) -> Profile | None:
        """Return the hardware profile of its nodes; None: not known."""
        return profiles.from_json(self.own_machine) if self.own_machine else PROFILES.get(self.profile or "")

    @property
    def known_machine(self) -> Profile:
        """Return the hardware profile of its nodes; raise ValueError where it is not known."""
        if self.machine is None:
            raise ValueError(f"{self.job}: the hardware profile is not known")
        return self.machine

    @property
    def is_rdma_test(self) -> bool:
        """Return whether it is the RDMA test, either side of it."""
        return self.program == RDMA_TEST

    @property
    def side(self) -> str:
        """Return the side of the RDMA test: the one that listens prints less."""
        return RDMA_LISTENER if self.job.endswith(LISTENER) else RDMA_TEST

    @property
    def is_infiniband(self) -> bool:
        """Return whether the nodes talk over InfiniBand."""
        return self.fabric == "infiniband"

    @property
    def has_rdma_fabric(self) -> bool:
        """Return whether the fabric carries RDMA."""
        return self.fabric in ("infiniband", "roce")

    @property
    def port_rate_gbps(self) -> int | None:
        """Return the rate of the profile's compute ports, Gb/s; None: no profile."""
        return self.machine.ports.rate_gbps if self.machine else None

    @property
    def hcas(self) -> frozenset[str]:
        """Return the HCAs that each pod was to use: those it was given, else all of the profile."""
        return frozenset(self.devices or (hca.name for hca in (self.machine.hcas if self.machine else ())))

    @property
    def spans_nodes(self) -> bool:
        """Return whether ranks are on several nodes, as far as it is known."""
        return self.transport is not None and (len(self.nodes) != 1 or self._exceeds_a_node)

    @property
    def uses_rdma(self) -> bool:
        """Return whether RDMA was requested between nodes."""
        return self.transport is not None and self.transport.uses_rdma and self.spans_nodes

    @property
    def _exceeds_a_node(self) -> bool:
        """Return whether one node has too few GPUs for the job: then others are not known."""
        return self.machine is not None and self.shape is not None and self.shape.total > self.machine.gpus


class Ended(StrEnum):
    """How far a job had got when its logs were read."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    RUNNING = "running"
    WAITING = "waiting"
    ABSENT = "absent"
    UNKNOWN = "unknown"
    """Logs from files: the end is not known."""


class Job(Model):
    """A job with the content of its logs."""

    request: Request
    ended: Ended
    why: str | None = Field(default=None, description="why it ended or waits, as the cluster reports it")
    seconds: float | None = Field(default=None, ge=0, description="seconds that its program ran; None: not known")
    readings: tuple[Reading, ...]
    versions: Mapping[str, str] = Field(default={}, description="part of the stack -> version: driver, CUDA, image")


class Status(StrEnum):
    """How a criterion came out."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    WARN = "warn"
    """Worth reading, and no reason to refuse the platform."""
    MISSING = "missing"
    """The logs lack what it needs: no pass, and no failure."""


class Proof(Model):
    """A line of a log that a verdict depends on."""

    file: str
    line: int = Field(ge=1)
    text: str

    def where(self, file: str) -> str:
        """Return `file` with the line's number; without it of what is in parentheses, as no file: the nodes."""
        return file if self.file.startswith("(") else f"{file}:{self.line}"


class Verdict(Model):
    """One criterion, judged for one job."""

    criterion: str = Field(description="its name, as docs/reference/criteria.md lists them")
    job: str
    status: Status
    measured: str = Field(description="what was found, with its unit; empty when nothing was")
    limit: str = Field(description="what is required, with its unit")
    source: str = Field(description="source id (docs/coverage/sources.md), or public record, of the limit")
    proofs: tuple[Proof, ...] = ()
    causes: tuple[str, ...] = Field(default=(), description="known causes that the lines show, each with its remedy")
