"""What was asked of a job, and what its logs say to that."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from pydantic import Field

from apis.nccl import Transport
from evidence.model import Reading
from hardware.model import Model

Fabric = Literal["infiniband", "roce", "ethernet"]


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


class Asked(Model):
    """What a job was to be: its criteria follow from this, never from what it printed."""

    job: str = Field(description="namespace/name on a cluster; for files what the person calls it")
    program: str | None = Field(default=None, description="name in the catalogue (docs/programs.md); None: not known")
    profile: str | None = Field(default=None, description="hardware profile of its nodes; None: not known")
    fabric: Fabric | None = None
    shape: Shape | None = Field(default=None, description="None: a job without GPUs, or not known")
    nodes: tuple[str, ...] = Field(default=(), description="on which its pods with GPUs ran; empty: not known")
    peers: tuple[str, ...] = Field(default=(), description="nodes of other jobs that it talks to")
    transport: Transport | None = Field(default=None, description="between nodes; None: one node, or not known")
    sharp: bool = Field(default=False, description="whether in-network reduction (CollNet) is to be in use")
    pod_mtu: int | None = Field(default=None, description="bytes that pods' eth0 must take; None: nobody said")
    devices: tuple[str, ...] = Field(default=(), description="HCAs for use between nodes; empty: none, or not known")


class Ended(StrEnum):
    """How far a job had got when its logs were read."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    RUNNING = "running"
    WAITING = "waiting"
    ABSENT = "absent"
    UNKNOWN = "unknown"
    """Logs from files: nobody said."""


class Job(Model):
    """A job with what its logs hold."""

    asked: Asked
    ended: Ended
    why: str | None = Field(default=None, description="what the cluster says of its end, or of its waiting")
    seconds: float | None = Field(default=None, ge=0, description="seconds that its program ran; None: not known")
    readings: tuple[Reading, ...]
    versions: Mapping[str, str] = Field(
        default={}, description="part of the stack -> version, e.g. of driver, CUDA, image"
    )


class Status(StrEnum):
    """How a criterion came out."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    WARN = "warn"
    """Worth a look, and no reason to refuse the platform."""
    MISSING = "missing"
    """The logs do not hold what it needs: no pass, and no failure."""


class Proof(Model):
    """A line of a log that a verdict rests on."""

    file: str
    line: int = Field(ge=1)
    text: str

    def where(self, file: str) -> str:
        """Return `file` with the line's number; without it of what is in parentheses, as no file: the nodes."""
        return file if self.file.startswith("(") else f"{file}:{self.line}"


class Verdict(Model):
    """One criterion, judged for one job."""

    criterion: str = Field(description="its name, as docs/criteria.md lists them")
    job: str
    status: Status
    measured: str = Field(description="what was found, with its unit; empty when nothing was")
    limit: str = Field(description="what was asked, with its unit")
    source: str = Field(description="inventory id, or public record, of the limit")
    proofs: tuple[Proof, ...] = ()
    causes: tuple[str, ...] = Field(default=(), description="known causes that the lines show, each with its remedy")
