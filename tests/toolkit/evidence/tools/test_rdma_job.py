"""The job log of the RDMA test, whole: one file, eight runs of tools of hosts and fabric, and perftest."""

from pathlib import Path

from toolkit.evidence.reader import read
from toolkit.evidence.tools.ibhosts import IbHosts
from toolkit.evidence.tools.ibstatus import IbStatus
from toolkit.evidence.tools.network import NetDevices
from toolkit.evidence.tools.process import WhoAmI
from toolkit.evidence.tools.rdma_devices import RdmaDevices

LOG = Path(__file__).parent.parent / "logs" / "rdma-job" / "r-4.1-job.log"


def test_every_tool_of_the_log_is_found() -> None:
    """Every tool of a job's log is found, and no line is lost between two of them."""
    found = read(LOG)
    ours = [one for one in found if one.tool != "perftest"]
    assert [one.tool for one in ours] == ["whoami", "rdma-devices", "net-devices", "ibstatus", *4 * ["ibhosts"]]
    assert all(one.complete and not one.unread_total for one in ours)


def test_the_pod_ran_as_a_user_of_its_namespace() -> None:
    """The user of the pod is read."""
    (who,) = (one for one in read(LOG) if isinstance(one, WhoAmI))
    assert (who.user, who.uid, who.of_namespace) == ("1075480000", 1075480000, True)


def test_the_pod_was_given_every_device() -> None:
    """Every device file and its rights are read."""
    (devices,) = (one for one in read(LOG) if isinstance(one, RdmaDevices))
    assert devices.counts == {"issm": 4, "rdma_cm": 1, "ucm": 4, "umad": 4, "uverbs": 4}
    assert len(devices.rows) == 17
    assert all(row.mode[7:9] == "rw" and row.owner == row.group == "root" for row in devices.rows)
    assert {row.name: (row.major, row.minor) for row in devices.rows if row.name in ("rdma_cm", "uverbs3")} == {
        "rdma_cm": (10, 57),
        "uverbs3": (231, 195),
    }


def test_the_pod_network_is_the_cluster_network() -> None:
    """Interfaces of the pod are read."""
    (devices,) = (one for one in read(LOG) if isinstance(one, NetDevices))
    assert [row.name for row in devices.rows] == ["eth0", "lo"]


def test_all_ports_are_up_under_one_subnet_manager() -> None:
    """Ports are read with rate and subnet manager."""
    (status,) = (one for one in read(LOG) if isinstance(one, IbStatus))
    assert [(port.device, port.port, port.base_lid) for port in status.rows] == [
        ("mlx5_0", 1, "0xb"),
        ("mlx5_1", 1, "0xd"),
        ("mlx5_2", 1, "0xc"),
        ("mlx5_3", 1, "0xe"),
    ]
    assert {(port.sm_lid, port.state, port.phys_state, port.rate_gbps, port.width) for port in status.rows} == {
        ("0x9", "ACTIVE", "LinkUp", 100.0, "4X EDR")
    }
    assert all(port.up and port.link_layer == "InfiniBand" for port in status.rows)
    assert status.rows[2].gid == "fe80:0000:0000:0000:ec0d:9a03:006e:fef2"


def test_every_hca_sees_the_same_fabric() -> None:
    """Every HCA's list of adapters is read."""
    seen = [one for one in read(LOG) if isinstance(one, IbHosts)]
    assert [one.hca for one in seen] == ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]
    assert [len(one.rows) for one in seen] == [17, 17, 17, 17]
    assert len({frozenset((row.guid, row.ports, row.name) for row in one.rows) for one in seen}) == 1
    names = {row.name for row in seen[0].rows if not row.aggregation_node}
    assert names == {f"dgx0{node} HCA-{hca}" for node in (1, 2) for hca in (1, 2, 3, 4)} | {
        f"fscc-fab3-3-{node} HCA-{hca}" for node in "ab" for hca in (2, 3, 4, 5)
    }
    assert [row.name for row in seen[0].rows if row.aggregation_node] == ["Mellanox Technologies Aggregation Node"]
