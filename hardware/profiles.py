"""Node profiles: what one machine of a model has."""

from typing import Literal

from pydantic import Field

from hardware.model import Model


class Hca(Model):
    """One port of an InfiniBand or RoCE adapter."""

    name: str = Field(description="verbs device, as NCCL_IB_HCA names it, e.g. mlx5_0")
    netdev: str = Field(description="network interface, as the RDMA device plugin selects it, e.g. ib0")
    numa: int = Field(ge=0, description="NUMA node of its PCIe root")
    gpus: tuple[int, ...] = Field(description="GPUs behind the same PCIe switch (PIX in nvidia-smi topo)")
    rate_gbps: int = Field(gt=0, description="line rate in Gb/s")


class Profile(Model):
    """One machine."""

    name: str
    model: str
    gpus: int = Field(gt=0, description="number of GPUs, which is what nvidia.com/gpu becomes")
    gpu_model: str = Field(description="as nvidia-smi prints it")
    gpu_memory_mib: int = Field(gt=0)
    cpu_cores: int = Field(gt=0, description="physical cores")
    threads_per_core: int = Field(default=2, gt=0)
    memory_gib: int = Field(gt=0)
    link_layer: Literal["InfiniBand", "Ethernet"]
    hca_model: str
    hcas: tuple[Hca, ...]
    pci_vendors: tuple[str, ...] = Field(description="PCI vendor ids that node feature discovery finds")
    source: str = Field(description="inventory id of the figures")

    @property
    def cpus(self) -> int:
        """Logical CPUs, as a node reports them."""
        return self.cpu_cores * self.threads_per_core


NVIDIA_PCI_VENDOR = "10de"
MELLANOX_PCI_VENDOR = "15b3"

DGX1_V100_16GB = Profile(
    name="dgx1-v100-16gb",
    model="NVIDIA DGX-1",
    gpus=8,
    gpu_model="Tesla V100-SXM2-16GB",
    gpu_memory_mib=16160,
    cpu_cores=40,
    memory_gib=512,
    link_layer="InfiniBand",
    hca_model="ConnectX-4 MT27700",
    hcas=tuple(
        Hca(name=f"mlx5_{port}", netdev=f"ib{port}", numa=port // 2, gpus=(2 * port, 2 * port + 1), rate_gbps=100)
        for port in range(4)
    ),
    pci_vendors=(NVIDIA_PCI_VENDOR, MELLANOX_PCI_VENDOR),
    source="R-2.1-1, R-3.4.2-2, R-4.4-2, R-4.4-3",
)

PROFILES: dict[str, Profile] = {known.name: known for known in (DGX1_V100_16GB,)}


def profile(name: str) -> Profile:
    """Return the profile called `name`; raise ValueError, naming the known ones, for another."""
    try:
        return PROFILES[name]
    except KeyError:
        raise ValueError(f"unknown hardware profile {name!r}; known: {', '.join(sorted(PROFILES))}") from None
