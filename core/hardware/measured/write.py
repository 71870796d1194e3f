"""RDMA between two of the Redpaper's machines over one EDR link."""

from typing import Literal

from pydantic import Field

from core.hardware.measured.machines import REDPAPER_MACHINE
from core.model import Model


class RdmaWrite(Model):
    """A result of ib_write_bw; MB are of 2^20 bytes."""

    source: str
    profile: str
    fabric: Literal["infiniband"]
    bytes: int
    iterations: int
    peak_mb_s: float
    average_mb_s: float
    message_rate_mpps: float
    least_mb_s: float = Field(description="average that the document asks of one link: 92 Gb/s of 100")


RDMA_WRITE = RdmaWrite(
    source="R-4.1-8",
    profile=REDPAPER_MACHINE,
    fabric="infiniband",
    bytes=65536,
    iterations=5000,
    peak_mb_s=11300.40,
    average_mb_s=11264.11,
    message_rate_mpps=0.180226,
    least_mb_s=11_000,
)
"""HCA mlx5_1."""
