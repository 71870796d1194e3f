"""NVIDIA DGX-1, with GPUs of 16 GB (the Redpaper's) and of 32 GB (document 001's reference)."""

from hardware.gpus import V100_SXM2_16GB, V100_SXM2_32GB
from hardware.profiles.records import MELLANOX_PCI_VENDOR, NVIDIA_PCI_VENDOR, Hca, NumaNode, NvLink, Ports, Profile

# R-4.4-3: NV1 and NV2 of the matrix; 0 is SYS. Six links a GPU.
CUBE_MESH = (
    (0, 1, 1, 2, 2, 0, 0, 0),
    (1, 0, 2, 1, 0, 2, 0, 0),
    (1, 2, 0, 2, 0, 0, 1, 0),
    (2, 1, 2, 0, 0, 0, 0, 1),
    (2, 0, 0, 0, 0, 1, 1, 2),
    (0, 2, 0, 0, 1, 0, 2, 1),
    (0, 0, 1, 0, 1, 2, 0, 2),
    (0, 0, 0, 1, 2, 1, 2, 0),
)

DGX1_V100_16GB = Profile(
    name="dgx1-v100-16gb",
    model="NVIDIA DGX-1",
    gpus=8,
    gpu=V100_SXM2_16GB,
    nvlink=NvLink(generation=2, gbs=300, shape="hybrid cube mesh", links=CUBE_MESH),
    cpu_cores=40,
    memory_gib=512,
    numa=(
        NumaNode(id=0, cpus="0-19,40-59", gpus=(0, 1, 2, 3)),
        NumaNode(id=1, cpus="20-39,60-79", gpus=(4, 5, 6, 7)),
    ),
    link_layer="InfiniBand",
    ports=Ports(count=4, rate_gbps=100, adapter="ConnectX-4 MT27700"),
    hcas=tuple(
        Hca(name=f"mlx5_{port}", netdev=f"ib{port}", numa=port // 2, gpus=(2 * port, 2 * port + 1), rate_gbps=100)
        for port in range(4)
    ),
    pci_vendors=(NVIDIA_PCI_VENDOR, MELLANOX_PCI_VENDOR),
    source="R-2.1-1, R-3.4.2-2, R-4.4-2, R-4.4-3; NVLink D-2.1, D-2.3",
)

# E-61. Of this machine the documents give the GPU only; the rest is the Redpaper's DGX-1.
DGX1_V100_32GB = DGX1_V100_16GB.model_copy(
    update={"name": "dgx1-v100-32gb", "gpu": V100_SXM2_32GB, "source": f"E-61, S-2.1; {DGX1_V100_16GB.source}"}
)
