"""How fast messages of a size are over one port: the Redpaper's figure for EDR, and rules for others."""

import math

from core.hardware.measured import RDMA_WRITE
from toolkit.simulator.performance.job import Machine

EDR_GBPS = 100
EDR_AVERAGE, EDR_PEAK = RDMA_WRITE.average_mb_s, RDMA_WRITE.peak_mb_s
"""MB/s (of 2^20 bytes) of 64 KiB messages over one EDR port."""
SPREAD = 0.001
"""Standard deviation of a measurement: an assumption, the paper prints one."""
RDMA_MTUS = (4096, 2048, 1024, 512, 256)
"""Bytes of payload that a packet may have; 4096 on InfiniBand."""
AROUND = 96
"""Bytes that Linux reserves around the payload on Ethernet: with an MTU of 1500 it is 1024."""
ROCE_OVERHEAD = 82
"""Bytes of a RoCE v2 packet beside its payload: preamble, gap, Ethernet, IP, UDP, BTH and the two checksums."""
MESSAGE_US = 0.2
"""Time in microseconds that a message takes however small it is: 5 million a second, an assumption."""
LATENCY_US = 1.1
"""Of a write or send of two bytes, one way; a read is there and back. An assumption, below the 6 us of 3.1."""


def payload(machine: Machine, hca: str) -> int:
    """Return the bytes of payload that packets of a port have: on Ethernet what fits into its MTU."""
    if not machine.ethernet:
        return RDMA_MTUS[0]
    return next((size for size in RDMA_MTUS if size + AROUND <= machine.mtu(hca)), RDMA_MTUS[-1])


def average(machine: Machine, gbps: int, mtu: int) -> float:
    """Return what large messages reach over one port, MB/s of 2^20 bytes, before the spread of a measurement."""
    as_edr = EDR_AVERAGE * gbps / EDR_GBPS
    if machine.ethernet:
        return min(as_edr, gbps * 1e9 / 8 * mtu / (mtu + ROCE_OVERHEAD) / (1 << 20))
    return as_edr


def messages(size: int, full: float) -> float:
    """Return MB/s of messages of a size; the link's rate for large ones, the adapter's rate of messages for small."""
    sent = size / (full * (1 << 20)) * 1e6
    longer, shorter = max(sent, MESSAGE_US), min(sent, MESSAGE_US)
    # Of two limits the narrower one counts, with a soft corner where they meet.
    return size / (1 << 20) * 1e6 / (longer * math.pow(1 + (shorter / longer) ** 8, 1 / 8))


def latency(size: int, full: float, ways: int) -> float:
    """Return the us of a message of a size, there (one way) or there and back (two); `full` is the link's MB/s."""
    return LATENCY_US * ways + size / (full * (1 << 20)) * 1e6
