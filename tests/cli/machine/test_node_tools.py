"""What a node prints about itself, in the forms of different versions."""

import pytest

from cli.machine.node_tools import IbDev2NetDev, MemInfo, NodeLabels, Numactl
from evidence.tools.nvidia_smi_query.model import NvidiaSmiQuery
from tests.support.node_outputs import printed, readings


def test_ibdev2netdev_with_addresses() -> None:
    """-v has PCI address and chip before the port, with or without the card's name (IGX, Grace)."""
    (one,) = readings(
        "0000:03:00.0 mlx5_0 (MT4129 - P3740-0002 ) NVIDIA IGX, P3740-0002, 2-port QSFP up to 400G, InfiniBand and "
        "Ethernet, PCIe5       fw 28.37.0190 port 1 (DOWN  ) ==> eth2 (Down)\n"
        "0005:03:00.1 mlx5_1 (MT4129 -            )                 fw 28.39.3004 port 1 (ACTIVE) ==> cx7_1 (Up)\n"
        "mlx5_2 port 1 ==> ibp24s0\n"
    )
    assert isinstance(one, IbDev2NetDev)
    assert [(row.device, row.interface, row.pci, row.ca_type) for row in one.rows] == [
        ("mlx5_0", "eth2", "0000:03:00.0", "MT4129"),
        ("mlx5_1", "cx7_1", "0005:03:00.1", "MT4129"),
    ]
    assert (one.complete, [line.line for line in one.unread]) == (False, [3])


def test_nvidia_smi_query() -> None:
    """Each GPU has its name, and its own memory, not that of its BAR1; what is N/A is not known."""
    text = printed("dgx-h100.node").partition("$ lscpu")[0].replace("GPU-b42dd28e-ffdd-8720-1df0-98bd8cdc05b7", "N/A")
    (one,) = readings(text.replace("    Serial Number", "    vGPU Device Capability\n    Serial Number"))
    assert isinstance(one, NvidiaSmiQuery)
    assert (one.attached, len(one.rows), one.unread) == (8, 8, ())
    assert {(row.name, row.architecture, row.memory_mib) for row in one.rows} == {
        ("NVIDIA H100 80GB HBM3", "Hopper", 81559)
    }
    assert (one.rows[0].bus, one.rows[0].uuid, one.rows[7].uuid) == (
        "00000000:1b:00.0",
        "GPU-b42dd28e-ffdd-8720-1df0-98bd8cdc05b0",
        None,
    )


def test_numactl_with_nodes_of_memory_only() -> None:
    """CPUs are written as a list of ranges; a node may have none."""
    (one,) = readings("available: 2 nodes (0-1)\nnode 0 cpus: 0 1 2 8\nnode 0 size: 100 MB\nnode 1 cpus:\n")
    assert isinstance(one, Numactl)
    assert [(row.node, row.cpus, row.size_mib) for row in one.rows] == [(0, "0-2,8", 100), (1, "", None)]


def test_meminfo() -> None:
    """MemTotal is read, with its line."""
    (one,) = readings("MemTotal:       2113404416 kB\nMemFree:        2001234567 kB\nHugePages_Total:       0\n")
    assert isinstance(one, MemInfo)
    assert (one.total_kib, one.unread) == (2113404416, ())


@pytest.mark.parametrize(
    "form",
    [
        "Labels:             {0}={1}\n                    {2}={3}\n",
        "  labels:\n    {0}: {1}\n    {2}: '{3}'\n",
        '    "labels": {{\n      "{0}": "{1}",\n      "{2}": "{3}"\n    }}\n',
    ],
)
def test_labels_of_a_node(form: str) -> None:
    """Labels are read as `oc describe node`, YAML and JSON have them."""
    labels = ("kubernetes.io/arch", "arm64", "nvidia.com/gpu.product", "NVIDIA-GB200")
    found = [one for one in readings(form.format(*labels)) if isinstance(one, NodeLabels)]
    assert [(row.key, row.value) for one in found for row in one.rows] == [labels[:2], labels[2:]]
