"""Time of an all-reduce by message size, as fitted to the Redpaper's tables; written by simulator.performance.fit."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Segment:
    """Sizes that NCCL moves in one way (its protocols and chunk sizes): time = latency + size / bandwidth."""

    up_to: int
    """Largest size in bytes; the last segment goes on beyond it."""
    latency_us: float
    gb_s: float
    """Algorithm bandwidth, 10^9 bytes a second."""

    def us(self, size: int) -> float:
        """Return the time of a size, microseconds."""
        return self.latency_us + size / self.gb_s / 1e3


Curve = tuple[Segment, ...]

CURVES: Mapping[str, Curve] = MappingProxyType(
    {
        "1x8": (
            Segment(1024, 40.82, 0.2662),
            Segment(524288, 41.62, 30.92),
            Segment(8388608, 69.91, 38.08),
            Segment(268435456, 132.43, 77.45),
        ),
        "2x8": (
            Segment(16384, 52.85, 0.681),
            Segment(4194304, 100.57, 15.4),
            Segment(33554432, 184.03, 23.74),
            Segment(268435456, 907.27, 33.42),
        ),
        "16x1": (
            Segment(2048, 75.56, 0.06563),
            Segment(32768, 113.44, 0.751),
            Segment(262144, 146.45, 1.542),
            Segment(268435456, 421.09, 3.141),
        ),
    }
)
