"""Address translation: mlxconfig, lspci, ESXi's kernel option; ESXi's PCI devices (N-2 to N-4)."""

from pathlib import Path

from evidence.reader import read
from evidence.tools.esxcli_kernel import EsxcliKernel
from evidence.tools.esxcli_pci import EsxcliPci
from evidence.tools.lspci import LsPci
from evidence.tools.mlxconfig import MlxConfig
from tests.support.mutated import read_text

LOGS = Path(__file__).parent.parent / "logs"
QUERY = """
Device #1:
----------

Device type:    ConnectX6
Name:           MCX653105A-HDA_Ax
Device:         /dev/mst/mt4123_pciconf0

Configurations:                              Next Boot
         MEMIC_BAR_SIZE                      0
         NUM_OF_VFS                          16
{ats}         ROCE_NEXT_PROTOCOL                  254
         MASK_FUNC                           Array[0..7]
"""


def _query(ats: str) -> MlxConfig:
    (found,) = read_text(QUERY.format(ats=ats))
    assert isinstance(found, MlxConfig)
    return found


def test_ats_is_absent_off_or_on() -> None:
    """Prevents firmware without ATS from being taken for one where it is off (N-3.6)."""
    assert _query("").ats == "absent"
    assert _query("         ATS_ENABLED                         False(0)\n").ats == "off"
    found = _query("         ATS_ENABLED                         True(1)\n")
    assert (found.ats, found.device, found.kind) == ("on", "/dev/mst/mt4123_pciconf0", "ConnectX6")
    assert [row.name for row in found.rows][-2:] == ["ROCE_NEXT_PROTOCOL", "MASK_FUNC"]


def test_ats_that_cannot_be_read_is_not_known() -> None:
    """Prevents a damaged line from being firmware without ATS."""
    found = _query("         ATS_ENABLED                         Tru\n")
    assert (found.ats, found.complete, found.unread_total) == (None, False, 1)
    (none,) = read_text("# mlxconfig -d /dev/mst/mt4123_pciconf0 query | grep -i ATS\n")
    assert isinstance(none, MlxConfig)
    assert (none.ats, none.incomplete) == (None, "no setting")
    (some,) = read_text("# mlxconfig -d mlx5_0 query | grep -i ATS\n         ATS_ENABLED        False(0)\n")
    assert isinstance(some, MlxConfig)
    assert (some.ats, some.device) == ("off", "mlx5_0")


def test_ats_is_switched_on() -> None:
    """Prevents a set that waits for a reboot from being the state of now (N-3.7)."""
    (found,) = read(LOGS / "mlxconfig" / "n-3.7.log")
    assert isinstance(found, MlxConfig)
    assert found.columns == ("Next Boot", "New")
    assert [(row.name, row.values, row.line) for row in found.rows] == [("ATS_ENABLED", ("False(0)", "True(1)"), 9)]
    assert (found.reboot_needed, found.complete, found.unread) == (True, True, ())


def test_the_capability_of_the_nic() -> None:
    """Prevents a NIC with ATS that is not enabled from passing (N-3.9)."""
    (found,) = (one for one in read(LOGS / "lspci" / "n-3.9.log") if isinstance(one, LsPci))
    assert [(row.address, row.ats, row.ats_enabled, row.line) for row in found.rows] == [(None, True, True, 4)]
    assert found.complete


def test_capabilities_without_their_devices() -> None:
    """Prevents NICs of which grep left only the capability from being one (NVIDIA/nccl-tests issue 256)."""
    one = (
        "\tCapabilities: [480 v1] Address Translation Service (ATS)\n\t\tATSCap:\tInvalidate Queue Depth: 00\n"
        "\t\tATSCtl:\tEnable+, Smallest Translation Unit: 00\n"
    )
    (found,) = read_text("root@vm:/home/fs# lspci -vvv |grep -i ats\n" + one + one.replace("Enable+", "Enable-"))
    assert isinstance(found, LsPci)
    assert ([row.ats_enabled for row in found.rows], found.complete) == ([True, False], True)


def test_devices_of_a_whole_lspci() -> None:
    """Prevents one device's capability from being its neighbour's."""
    (found,) = read_text(
        "02:00.0 Infiniband controller [0207]: Mellanox Technologies MT28908 Family [ConnectX-6]\n"
        "\tNUMA node: 0\n\tCapabilities: [60] Express (v2) Endpoint, MSI 00\n"
        "\tCapabilities: [480 v1] Address Translation Service (ATS)\n"
        "\t\tATSCap:\tInvalidate Queue Depth: 00\n\t\tATSCtl:\tEnable-, Smallest Translation Unit: 00\n"
        "\tKernel driver in use: mlx5_core\n\n"
        "03:00.0 3D controller: NVIDIA Corporation GA100\n\tNUMA node: 1\n\tKernel driver in use: nvidia\n"
    )
    assert isinstance(found, LsPci)
    assert [(r.address, r.kind, r.numa_node, r.driver, r.ats, r.ats_enabled) for r in found.rows] == [
        ("02:00.0", "Infiniband controller", 0, "mlx5_core", True, False),
        ("03:00.0", "3D controller", 1, "nvidia", False, None),
    ]
    (cut,) = read_text("02:00.0 Infiniband controller: X\n\tCapabilities: [480 v1] Address Translation Service (ATS)\n")
    assert not cut.complete


def test_the_kernel_option_of_esxi() -> None:
    """Prevents the default column from being the state of now (N-2.2)."""
    (found,) = (one for one in read(LOGS / "esxcli-kernel" / "n-2.2.log") if isinstance(one, EsxcliKernel))
    option = found.option("atsSupport")
    assert option is not None
    assert (option.kind, option.configured, option.runtime, option.default, option.line) == (
        "Bool",
        "TRUE",
        "TRUE",
        "FALSE",
        6,
    )
    assert found.option("other") is None


def test_a_pci_device_of_esxi_with_its_numa_node() -> None:
    """Prevents GPU and NIC of different NUMA nodes from passing (N-4.1)."""
    (found,) = read(LOGS / "esxcli-pci" / "n-4.1.log")
    assert isinstance(found, EsxcliPci)
    (row,) = found.rows
    assert (row.address, row.vendor, row.device, row.vendor_id, row.device_id, row.numa_node, row.passthru) == (
        "0000:3b:02.3",
        "NVIDIA Corporation",
        "NVIDIAA100-PCIE-40GB",
        "0x10de",
        "0x20f1",
        0,
        True,
    )
    assert (found.complete, found.unread) == (True, ())
    text = (LOGS / "esxcli-pci" / "n-4.1.log").read_text()
    (cut,) = read_text(text.partition("   NUMA Node")[0])
    assert isinstance(cut, EsxcliPci)
    assert (cut.rows, cut.incomplete) == ((), "0000:3b:02.3: no NUMA Node")
