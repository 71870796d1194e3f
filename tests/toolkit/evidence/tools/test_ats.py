"""Address translation: mlxconfig, lspci, ESXi's kernel option; ESXi's PCI devices."""

from pathlib import Path

from tests.support.mutated import only, read_text
from tests.toolkit.evidence.tools.logs import MLXCONFIG as QUERY
from toolkit.evidence.reader import read
from toolkit.evidence.tools.esxcli import EsxcliKernel, EsxcliPci
from toolkit.evidence.tools.lspci import LsPci
from toolkit.evidence.tools.mlxconfig import MlxConfig

LOGS = Path(__file__).parent.parent / "logs"


def _query(ats: str) -> MlxConfig:
    return only(MlxConfig, QUERY.format(ats=ats))


def test_ats_is_absent_off_or_on() -> None:
    """Firmware without ATS is not read as ATS that is off."""
    assert _query("").ats == "absent"
    assert _query("         ATS_ENABLED                         False(0)\n").ats == "off"
    found = _query("         ATS_ENABLED                         True(1)\n")
    assert (found.ats, found.device, found.kind) == ("on", "/dev/mst/mt4123_pciconf0", "ConnectX6")
    assert [row.name for row in found.rows][-2:] == ["ROCE_NEXT_PROTOCOL", "MASK_FUNC"]


def test_ats_that_cannot_be_read_is_not_known() -> None:
    """A damaged line leaves ATS unknown."""
    found = _query("         ATS_ENABLED                         Tru\n")
    assert (found.ats, found.complete, found.unread_total) == (None, False, 1)
    none = only(MlxConfig, "# mlxconfig -d /dev/mst/mt4123_pciconf0 query | grep -i ATS\n")
    assert (none.ats, none.incomplete) == (None, "no setting")
    some = only(MlxConfig, "# mlxconfig -d mlx5_0 query | grep -i ATS\n         ATS_ENABLED        False(0)\n")
    assert (some.ats, some.device) == ("off", "mlx5_0")


def test_ats_is_switched_on() -> None:
    """A setting that waits for a reboot is reported as such."""
    found = only(MlxConfig, LOGS / "mlxconfig" / "n-3.7.log")
    assert found.columns == ("Next Boot", "New")
    assert [(row.name, row.values, row.line) for row in found.rows] == [("ATS_ENABLED", ("False(0)", "True(1)"), 9)]
    assert (found.reboot_needed, found.complete, found.unread) == (True, True, ())


def test_the_capability_of_the_nic() -> None:
    """A NIC with ATS that is not enabled is read as such."""
    (found,) = (one for one in read(LOGS / "lspci" / "n-3.9.log") if isinstance(one, LsPci))
    assert [(row.address, row.ats, row.ats_enabled, row.line) for row in found.rows] == [(None, True, True, 4)]
    assert found.complete


def test_capabilities_without_their_devices() -> None:
    """Capabilities that grep left without their devices are counted each (NVIDIA/nccl-tests issue 256)."""
    one = (
        "\tCapabilities: [480 v1] Address Translation Service (ATS)\n\t\tATSCap:\tInvalidate Queue Depth: 00\n"
        "\t\tATSCtl:\tEnable+, Smallest Translation Unit: 00\n"
    )
    found = only(LsPci, "root@vm:/home/fs# lspci -vvv |grep -i ats\n" + one + one.replace("Enable+", "Enable-"))
    assert ([row.ats_enabled for row in found.rows], found.complete) == ([True, False], True)


def test_devices_of_a_whole_lspci() -> None:
    """A capability belongs to the device above it."""
    found = only(
        LsPci,
        "02:00.0 Infiniband controller [0207]: Mellanox Technologies MT28908 Family [ConnectX-6]\n"
        "\tNUMA node: 0\n\tCapabilities: [60] Express (v2) Endpoint, MSI 00\n"
        "\tCapabilities: [480 v1] Address Translation Service (ATS)\n"
        "\t\tATSCap:\tInvalidate Queue Depth: 00\n\t\tATSCtl:\tEnable-, Smallest Translation Unit: 00\n"
        "\tKernel driver in use: mlx5_core\n\n"
        "03:00.0 3D controller: NVIDIA Corporation GA100\n\tNUMA node: 1\n\tKernel driver in use: nvidia\n",
    )
    assert [(r.address, r.kind, r.numa_node, r.driver, r.ats, r.ats_enabled) for r in found.rows] == [
        ("02:00.0", "Infiniband controller", 0, "mlx5_core", True, False),
        ("03:00.0", "3D controller", 1, "nvidia", False, None),
    ]
    (cut,) = read_text("02:00.0 Infiniband controller: X\n\tCapabilities: [480 v1] Address Translation Service (ATS)\n")
    assert not cut.complete


def test_the_kernel_option_of_esxi() -> None:
    """The state is that of the column Runtime, not of Default."""
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
    """A PCI device is read with its NUMA node."""
    found = only(EsxcliPci, LOGS / "esxcli-pci" / "n-4.1.log")
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
    cut = only(EsxcliPci, text.partition("   NUMA Node")[0])
    assert (cut.rows, cut.incomplete) == ((), "0000:3b:02.3: no NUMA Node")
