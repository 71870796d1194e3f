"""How NCCL moves data between nodes, and the environment that asks for it (R-4.3-4)."""

from enum import StrEnum


class Transport(StrEnum):
    """Transport between nodes."""

    TCP = "tcp"
    INFINIBAND = "infiniband"
    GPUDIRECT = "gpudirect"

    @property
    def uses_rdma(self) -> bool:
        """Whether the workers need RDMA devices and locked memory."""
        return self is not Transport.TCP

    @property
    def environment(self) -> dict[str, str]:
        """The NCCL variables of this transport; level 1 is PIX: a GPU uses GPUDirect with its own HCA only (E-30)."""
        return {
            "NCCL_IB_DISABLE": "0" if self.uses_rdma else "1",
            "NCCL_NET_GDR_LEVEL": "1" if self is Transport.GPUDIRECT else "0",
        }
