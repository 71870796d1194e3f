"""How NCCL moves data between nodes, and the environment that asks for it."""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from operator import methodcaller
from typing import Literal

GdrLevel = Literal["PIX", "PXB", "PHB"]
"""How far a GPU and an HCA may be apart for GPUDirect: one PCIe bridge between them, several, host bridges."""
_NUMBERS: Mapping[str, str] = {"LOC": "0", "PIX": "1", "PXB": "2", "PHB": "3"}


class Transport(StrEnum):
    """Transport between nodes."""

    TCP = "tcp"
    INFINIBAND = "infiniband"
    GPUDIRECT = "gpudirect"

    @property
    def uses_rdma(self) -> bool:
        """Whether the workers need RDMA devices and locked memory."""
        return self is not Transport.TCP

    def environment(self, level: GdrLevel = "PIX", *, words: bool = False) -> dict[str, str]:
        """Return the NCCL variables of this transport.

        `level` is how far a GPU may be from the HCA that it uses GPUDirect with: PIX is its own HCA only. Images
        of 2020 take it as a number, as the papers do; today's documentation calls numbers the old spelling: `words`.
        """
        used: Literal["LOC"] | GdrLevel = level if self is Transport.GPUDIRECT else "LOC"
        return {
            "NCCL_IB_DISABLE": "0" if self.uses_rdma else "1",
            "NCCL_NET_GDR_LEVEL": used if words else _NUMBERS[used],
        }


NO_GDR = frozenset({"0", "LOC"})
"""Levels of NCCL_NET_GDR_LEVEL that never use GPUDirect."""
GDR_LEVELS = NO_GDR | {"1", "2", "3", "4", "5", "PIX", "PXB", "PHB", "SYS"}
"""What NCCL_NET_GDR_LEVEL may be: numbers are the old spelling, 1 is PIX and from 4 on it is SYS."""
P2P_LEVELS = GDR_LEVELS | {"NVL"}
"""What NCCL_P2P_LEVEL may be."""
SWITCH = frozenset({"0", "1"})
"""What NCCL_IB_DISABLE may be."""

VALUES: Mapping[str, frozenset[str]] = {
    "NCCL_IB_DISABLE": SWITCH,
    "NCCL_NET_GDR_LEVEL": GDR_LEVELS,
    "NCCL_P2P_LEVEL": P2P_LEVELS,
}
"""What a variable may be, where NCCL takes few values."""


def hca_list(value: str) -> Iterator[tuple[str, Callable[[str], bool]]]:
    """Yield the entries of a NCCL_IB_HCA that names devices, each with a test whether it means a given device.

    An entry is the start of a name, or with `=` in front of the list a whole name, and may have a port: `mlx5_0:1`.
    """
    exact = value.startswith("=")
    for text in value.removeprefix("=").split(","):
        name = text.strip().partition(":")[0]
        if name:
            yield name, partial(str.__eq__, name) if exact else methodcaller("startswith", name)


def _all_reduce(ranks: int) -> float:
    return 2 * (ranks - 1) / ranks


def _share_of_others(ranks: int) -> float:
    return (ranks - 1) / ranks


def _unit(_ranks: int) -> float:
    return 1.0


BUS_FACTORS: Mapping[str, Callable[[int], float]] = {
    "all_gather": _share_of_others,
    "all_reduce": _all_reduce,
    "alltoall": _share_of_others,
    "broadcast": _unit,
    "gather": _share_of_others,
    "hypercube": _unit,
    "reduce": _unit,
    "reduce_scatter": _share_of_others,
    "scatter": _share_of_others,
    "sendrecv": _unit,
}
"""Test of nccl-tests -> busbw / algbw by ranks, as today's versions have it (doc/PERFORMANCE.md)."""


def bus_factor(test: str, ranks: int) -> float:
    """Return busbw / algbw of a test for `ranks` ranks of one communicator. Raises KeyError for another test."""
    return BUS_FACTORS[test](ranks)


DirectFileSystem = Literal[
    "ext4-nvme", "xfs-nvme", "nfs-rdma", "exascaler", "wekafs", "vast", "storage-scale", "beegfs"
]
"""ext4 and XFS on NVMe or NVMe-oF, NFS over RDMA, DDN EXAScaler, WekaFS, VAST, IBM Storage Scale, BeeGFS."""

SCALE: DirectFileSystem = "storage-scale"
