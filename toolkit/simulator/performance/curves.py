"""Time of collectives by message size, as fitted to measurements; written by toolkit.simulator.performance.fit."""

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
    least: int = 0
    """Smallest size in bytes that it was fitted to; 0: the one after the segment before it."""

    def us(self, size: int) -> float:
        """Return the time of a size, microseconds."""
        return self.latency_us + size / self.gb_s / 1e3


Curve = tuple[Segment, ...]

CURVES: Mapping[str, Curve] = MappingProxyType(
    {
        "1x8": (
            Segment(1024, 40.82, 0.2662, 8),
            Segment(524288, 41.62, 30.92, 2048),
            Segment(8388608, 69.91, 38.08, 1048576),
            Segment(268435456, 132.43, 77.45, 16777216),
        ),
        "2x8": (
            Segment(16384, 52.85, 0.681, 8),
            Segment(4194304, 100.57, 15.4, 32768),
            Segment(33554432, 184.03, 23.74, 8388608),
            Segment(268435456, 907.27, 33.42, 67108864),
        ),
        "16x1": (
            Segment(2048, 75.56, 0.06563, 8),
            Segment(32768, 113.44, 0.751, 4096),
            Segment(262144, 146.45, 1.542, 65536),
            Segment(268435456, 421.09, 3.141, 524288),
        ),
    }
)
"""All-reduce of the Redpaper: its layout as pods x GPUs -> curve."""

NVLINK: Mapping[str, Curve] = MappingProxyType(
    {
        "all_reduce": (
            Segment(8192, 11.47, 3.321, 8),
            Segment(524288, 12.67, 148.1, 32768),
            Segment(536870912, 29.49, 293.0, 2097152),
        ),
        "all_gather": (
            Segment(8192, 9.78, 3.585, 8),
            Segment(2097152, 11.86, 198.7, 32768),
            Segment(536870912, 26.93, 494.3, 8388608),
        ),
        "alltoall": (
            Segment(8192, 11.23, 9.769, 8),
            Segment(2097152, 12.93, 222.3, 32768),
            Segment(536870912, 25.87, 544.3, 8388608),
        ),
    }
)
"""Over NVLink 4 within one machine (core/hardware/measured/__init__.py): collective -> curve."""
