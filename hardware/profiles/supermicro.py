"""Supermicro SYS-4029GP-TVRT: the GPU server of document 001.

It is an Ethernet machine: four ports of 25 Gb/s, no InfiniBand. Document 001 gives no names of ports, no CPU lists, no
matrix of the GPUs and no power draw (the supplies are 2200 W each, S-1.2).
"""

from hardware.gpus import V100_SXM2_32GB
from hardware.profiles.records import MELLANOX_PCI_VENDOR, NVIDIA_PCI_VENDOR, NvLink, Ports, Profile

SYS_4029GP_TVRT = Profile(
    name="sys-4029gp-tvrt",
    model="Supermicro SYS-4029GP-TVRT",
    gpus=8,
    gpu=V100_SXM2_32GB,
    nvlink=NvLink(generation=2, gbs=300, shape="hybrid cube mesh"),
    cpu_model="Intel Xeon 6248",
    cpu_cores=40,
    memory_gib=768,
    link_layer="Ethernet",
    ports=Ports(count=4, rate_gbps=25, adapter="2 x AOC-S25G-m2S (Mellanox)"),
    hcas=(),
    pci_vendors=(NVIDIA_PCI_VENDOR, MELLANOX_PCI_VENDOR),
    rack_units=4,
    source="S-1.2, S-1.3, S-2.1; NVLink generation D-2.3",
)
