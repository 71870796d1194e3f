"""What a node prints about itself, in the forms of different versions; `nvidia-smi -q` as text and as XML."""

import pytest

from tests.support.machines import DGX_A100
from tests.support.node_outputs import printed, readings
from tests.support.simulated_nodes import ran
from toolkit.cli.hardware.device_lists import IbvDevInfo, NvidiaSmiList
from toolkit.cli.hardware.node_tools import IbDev2NetDev, MemInfo, NodeLabels, Numactl, RdmaLink
from toolkit.evidence.tools.nvidia_smi_query import NvidiaSmiQuery

HEAD = '<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v13.dtd">\n<nvidia_smi_log>\n'
GPU = """\t<gpu id="00000000:{bus}:00.0">
\t\t<product_name>NVIDIA H100 80GB HBM3</product_name>
\t\t<product_architecture>Hopper</product_architecture>
\t\t<mig_devices>
\t\t\tNone
\t\t</mig_devices>
\t\t<uuid>GPU-{bus}</uuid>
\t\t<fb_memory_usage>
\t\t\t<total>81559 MiB</total>
\t\t</fb_memory_usage>
\t\t<bar1_memory_usage>
\t\t\t<total>131072 MiB</total>
\t\t</bar1_memory_usage>
\t\t<accounted_processes/>
\t</gpu>
"""
XML = f"{HEAD}\t<attached_gpus>2</attached_gpus>\n{GPU.format(bus='1B')}{GPU.format(bus='43')}</nvidia_smi_log>\n"


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


def test_ibdev2netdev_in_columns() -> None:
    """What `column -t` makes of it is read the same, with blanks between the words, and remarks behind the lines."""
    (one,) = readings(
        "mlx5_0   port  1  ==>  ibp26s0       (Down)  # first card\n"
        "mlx5_10  port  1  ==>  enp27s0f0np0  (Up)\n"
        "0000:03:00.0  mlx5_1  (MT4129  -  P3740-0002  )  NVIDIA  IGX  fw  28.37.0190  port  1  (DOWN  )  ==>  eth2  "
        "(Down)\n"
    )
    assert isinstance(one, IbDev2NetDev)
    assert [(row.device, row.interface, row.ca_type) for row in one.rows] == [
        ("mlx5_0", "ibp26s0", None),
        ("mlx5_10", "enp27s0f0np0", None),
        ("mlx5_1", "eth2", "MT4129"),
    ]
    assert one.unread == ()


def test_ibdev2netdev_below_a_matrix_is_no_row_of_it() -> None:
    """A line that begins with a device and has an arrow is none of the matrix above it."""
    topo, devices = readings(f"{printed('dgx-h100.topo')}mlx5_0 port 1 ==> ibp24s0 (Up)\n")
    assert (topo.incomplete, topo.unread, isinstance(devices, IbDev2NetDev)) == (None, (), True)


def test_rdma_link() -> None:
    """Ports have their interface where one is printed, also in the form of older releases of iproute2."""
    (one,) = readings(
        "$ rdma link show\n"
        "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1f0np0 \n"
        "link mlx5_1/1 subnet_prefix fe80:0000:0000:0000 lid 13 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP \n"
        "2/1: bnxt_re0/1: state DOWN physical_state DISABLED netdev ens2f0np0\n"
    )
    assert isinstance(one, RdmaLink)
    assert [(row.device, row.port, row.interface, row.subnet) for row in one.rows] == [
        ("mlx5_0", 1, "ens1f0np0", None),
        ("mlx5_1", 1, None, "fe80:0000:0000:0000"),
        ("bnxt_re0", 1, "ens2f0np0", None),
    ]


def test_lists_of_devices() -> None:
    """`nvidia-smi -L` gives names and, where it is typed, the number; ibv_devinfo the chip and the link layer."""
    listed, devices = readings(
        "$ nvidia-smi -L\n"
        "GPU 0: NVIDIA A100 80GB PCIe (UUID: GPU-11111111-2222-3333-4444-555555555550)\n"
        "GPU 1: NVIDIA A100 80GB PCIe\n"
        "hca_id:\tmlx5_0\n\ttransport:\t\tInfiniBand (0)\n\tvendor_part_id:\t\t4129\n"
        "\t\tport:\t1\n\t\t\tstate:\t\tPORT_ACTIVE (4)\n\t\t\tlink_layer:\t\tEthernet\n"
    )
    assert isinstance(listed, NvidiaSmiList)
    assert isinstance(devices, IbvDevInfo)
    assert (listed.whole, [(row.index, row.name) for row in listed.rows]) == (
        True,
        [(0, "NVIDIA A100 80GB PCIe"), (1, "NVIDIA A100 80GB PCIe")],
    )
    assert [(row.device, row.ca_type, row.link_layer) for row in devices.rows] == [("mlx5_0", "MT4129", "Ethernet")]


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


def _only(text: str) -> NvidiaSmiQuery:
    (one,) = readings(text)
    assert isinstance(one, NvidiaSmiQuery)
    return one


@pytest.mark.parametrize(
    "text", [XML, f"$ nvidia-smi -q -x\n{XML}", XML.replace("\n\t", "\t"), XML.replace("\n", "\r\n")]
)
def test_the_xml_form(text: str) -> None:
    """Each GPU has its own memory, not that of its BAR1, in whatever lines the elements are."""
    one = _only(text)
    assert (one.attached, one.complete, one.unread) == (2, True, ())
    assert [(row.bus, row.name, row.architecture, row.uuid, row.memory_mib) for row in one.rows] == [
        (f"00000000:{bus.lower()}:00.0", "NVIDIA H100 80GB HBM3", "Hopper", f"GPU-{bus}", 81559) for bus in ("1B", "43")
    ]


def test_text_and_xml_of_one_node_agree() -> None:
    """Both forms of one node, as the simulated one prints them, have the same figures."""
    text, xml = (_only(ran(DGX_A100, f"nvidia-smi -q {option}")) for option in ("", "-x"))
    assert (text.attached, text.complete, xml.complete) == (8, True, True)
    assert [row.model_dump(exclude={"line"}) for row in text.rows] == [
        row.model_dump(exclude={"line"}) for row in xml.rows
    ]


def test_a_cut_file_is_read_as_far_as_it_goes() -> None:
    """The missing end of a file is named, and what is before it is used."""
    one = _only(XML.partition("\t\t<bar1_memory_usage>")[0])
    assert (one.incomplete, [row.memory_mib for row in one.rows]) == ("no end of the XML", [81559])


def test_a_damaged_element_is_left_out() -> None:
    """A value without its end is none, and does not move others."""
    one = _only(XML.replace("HBM3</product_name>", "HB", 1))
    assert [row.name for row in one.rows] == [None, "NVIDIA H100 80GB HBM3"]
    assert (one.incomplete, [line.text for line in one.unread]) == (
        "1 damaged line",
        ["\t\t<product_name>NVIDIA H100 80GB HB"],
    )


def test_entities_are_not_looked_up() -> None:
    """A document type with entities of its own is not read, and none is expanded."""
    evil = HEAD.replace('"nvsmi_device_v13.dtd"', '"x" [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]')
    one = _only(f"{evil}{GPU.format(bus='1B').replace('NVIDIA H100 80GB HBM3', '&b;')}</nvidia_smi_log>\n")
    assert one.rows[0].name == "&b;"


def test_another_output_of_the_same_begins_a_reading_of_its_own() -> None:
    """Two outputs in one file are two readings."""
    assert [len(one.rows) for one in readings(XML + XML) if isinstance(one, NvidiaSmiQuery)] == [2, 2]
