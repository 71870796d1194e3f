"""NVIDIA DGX A100, 320 GB: eight HDR ports for compute, two for storage, eight NUMA nodes (NPS=4).

The documents give the ports' number and rate, not their names. Those, with the PCIe paths, are as in the public record
of a DGX A100 40 GB whose CPU affinity is that of D-2.6: NVIDIA/nccl issue 1505 (`nvidia-smi topo -m` and NCCL's
topology). Interfaces have the names that systemd gives by PCI bus, as public scripts for this machine have them:
ibp12s0 is mlx5_0, on bus 0x0c. The optional second storage card (mlx5_10, mlx5_11) is not part of the profile.
"""

from hardware.gpus import A100_SXM4_40GB
from hardware.profiles.records import MELLANOX_PCI_VENDOR, NVIDIA_PCI_VENDOR, Hca, NumaNode, NvLink, Ports, Profile

_GPU_NODES = {1: (2, 3), 3: (0, 1), 5: (6, 7), 7: (4, 5)}
"""D-2.6; the other NUMA nodes have no GPU."""
_COMPUTE = (
    (0, 0x0C, 3),
    (1, 0x12, 3),
    (2, 0x4B, 1),
    (3, 0x54, 1),
    (6, 0x8D, 7),
    (7, 0x94, 7),
    (8, 0xBA, 5),
    (9, 0xCC, 5),
)
"""Number of the verbs device, PCI bus, NUMA node; in the order of the GPUs beside them."""
_STORAGE_BUS = 0x61

DGX_A100 = Profile(
    name="dgx-a100",
    model="NVIDIA DGX A100",
    gpus=8,
    gpu=A100_SXM4_40GB,
    nvlink=NvLink(
        generation=3,
        gbs=600,
        shape="switched",
        switches=6,
        links=tuple(tuple(0 if a == b else 12 for b in range(8)) for a in range(8)),
    ),
    cpu_model="AMD EPYC 7742",
    cpu_cores=128,
    memory_gib=1024,
    memory_options_gib=(2048,),
    numa=tuple(
        NumaNode(
            id=node,
            cpus=f"{16 * node}-{16 * node + 15},{128 + 16 * node}-{128 + 16 * node + 15}",
            gpus=_GPU_NODES.get(node, ()),
            memory_gbs=50,
        )
        for node in range(8)
    ),
    link_layer="InfiniBand",
    ports=Ports(count=8, rate_gbps=200, adapter="ConnectX-6"),
    hcas=tuple(
        Hca(
            name=f"mlx5_{number}",
            netdev=f"ibp{bus}s0",
            numa=node,
            gpus=_GPU_NODES[node],
            distance="PXB",
            rate_gbps=200,
            pci=f"0000:{bus:02x}:00.0",
        )
        for number, bus, node in _COMPUTE
    ),
    storage_ports=Ports(count=2, rate_gbps=200, adapter="ConnectX-6, dual-port"),
    storage_hcas=tuple(
        Hca(
            name=f"mlx5_{4 + port}",
            netdev=f"ibp{_STORAGE_BUS}s0f{port}",
            numa=0,
            gpus=(),
            distance=None,
            rate_gbps=200,
            pci=f"0000:{_STORAGE_BUS:02x}:00.{port}",
        )
        for port in range(2)
    ),
    pci_vendors=(NVIDIA_PCI_VENDOR, MELLANOX_PCI_VENDOR),
    power_watts=6500,
    rack_units=6,
    weight_kg=123,
    source="D-2.2 to D-2.7, D-3.2, E-56, E-57; names and paths of the ports: NVIDIA/nccl issue 1505",
)
