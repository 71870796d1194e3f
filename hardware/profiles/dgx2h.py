"""NVIDIA DGX-2H: 16 GPUs, eight EDR ports.

The documents (D-1.1, D-2.3, D-2.4) give neither the names of the ports nor which GPUs are near to them, nor the CPU
lists of the two NUMA nodes, nor power and height. `with_hcas` makes a profile in which the ports have names.
"""

from hardware.gpus import V100_SXM3_32GB_H
from hardware.profiles.records import MELLANOX_PCI_VENDOR, NVIDIA_PCI_VENDOR, NvLink, Ports, Profile

DGX2H = Profile(
    name="dgx2h",
    model="NVIDIA DGX-2H",
    gpus=16,
    gpu=V100_SXM3_32GB_H,
    nvlink=NvLink(generation=2, gbs=300, shape="switched"),
    cpu_model="Intel Xeon Platinum 8174",
    cpu_cores=48,
    memory_gib=1536,
    link_layer="InfiniBand",
    ports=Ports(count=8, rate_gbps=100, adapter="EDR, model not given"),
    hcas=(),
    pci_vendors=(NVIDIA_PCI_VENDOR, MELLANOX_PCI_VENDOR),
    source="D-1.1, D-2.3, D-2.4",
)
