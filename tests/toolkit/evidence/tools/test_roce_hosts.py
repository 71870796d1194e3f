"""What hosts show of their RoCE ports: classes, addresses, connections, and settings of the firmware."""

from pathlib import Path

from tests.support.mutated import only, read_text
from toolkit.evidence.tools.mlxconfig import MlxConfig
from toolkit.evidence.tools.rdma_devices import ShowGids
from toolkit.evidence.tools.roce_ports import CmaRoce, MlnxQos

LOGS = Path(__file__).parent.parent / "logs"


def test_classes_of_a_port() -> None:
    """Trust, the map of DSCP, and the priorities with PFC are read of the interface that the command names."""
    found = only(MlnxQos, LOGS / "mlnx-qos" / "host-lossless.pass.log")
    assert (found.interface, found.trust, found.pfc) == ("ens1f0np0", "dscp", (3,))
    assert (found.priorities[26], found.priorities[48], len(found.priorities)) == (3, 6, 64)
    assert found.complete
    assert found.unread_total == 0


def test_two_ports_are_two_readings() -> None:
    """The second state of trust begins another port, also where no command is shown."""
    one = "Priority trust state: pcp\nPFC configuration:\n\tenabled     0   0   0   0   0   0   0   0\n"
    assert [each.tool for each in read_text(one + one)] == ["mlnx-qos", "mlnx-qos"]


def test_addresses_of_ports() -> None:
    """An entry without an address of IPv4 has none, and a table that was cut says so."""
    text = (LOGS / "show-gids" / "roce-address.pass.log").read_text()
    found = only(ShowGids, text)
    assert [(row.index, row.ipv4, row.version, row.interface) for row in found.rows][1:3] == [
        (1, None, "v2", "ens1f0np0"),
        (2, "192.168.10.21", "v1", "ens1f0np0"),
    ]
    assert found.complete
    assert only(ShowGids, text.replace("=4", "=6")).incomplete == "4 of 6 GIDs"


def test_connections_of_rdma_cm() -> None:
    """Each command is a reading with its device; an error is not a class."""
    tos, mode = read_text((LOGS / "cma-roce" / "connection-class.pass.log").read_text())
    assert isinstance(tos, CmaRoce)
    assert isinstance(mode, CmaRoce)
    assert (tos.device, tos.tos, mode.device, mode.mode) == ("mlx5_0", 106, "mlx5_0", "RoCE v2")
    failed = only(CmaRoce, "# cma_roce_tos -d mlx5_0\nModule rdma_cm is not loaded or does not support configfs\n")
    assert (failed.tos, failed.complete) == (None, False)


def test_settings_that_wait_for_a_boot() -> None:
    """What is in force and what follows are compared, not the default."""
    found = only(MlxConfig, LOGS / "mlxconfig" / "firmware-in-force.fail.log")
    assert [row.name for row in found.pending] == ["ATS_ENABLED"]
    assert not only(MlxConfig, LOGS / "mlxconfig" / "firmware-in-force.pass.log").pending


def test_a_comparison_of_the_firmware() -> None:
    """A setting that differs is read with both values."""
    found = only(MlxConfig, LOGS / "mlxconfig" / "validated.log")
    assert (found.matches, found.complete) == (False, True)
    assert [(each.name, each.expected, each.actual) for each in found.mismatches] == [
        ("ATS_ENABLED", "True(1)", "False(0)")
    ]
