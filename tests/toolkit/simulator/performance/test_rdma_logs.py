"""What the RDMA test's pods print, read by the evidence's own parsers."""

from dataclasses import replace
from typing import Any, TypeVar

import pytest

from components.jobs.rdma_perftest import RdmaTestArgs, client_script
from tests.support.machines import DGX1_V100_16GB, DGX_A100
from tests.toolkit.simulator.performance import jobs
from toolkit.evidence.model import Reading
from toolkit.evidence.tools.ibhosts import IbHosts
from toolkit.evidence.tools.ibstatus import IbStatus
from toolkit.evidence.tools.network import NetDevices
from toolkit.evidence.tools.perftest.model import Perftest
from toolkit.evidence.tools.process import WhoAmI
from toolkit.evidence.tools.rdma_devices import RdmaDevices
from toolkit.simulator.performance import listings, perftest, pod_commands, ports
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.printed import Printed

ARGS = RdmaTestArgs(
    namespace="adas",
    job_name="mofed-test-job",
    client_node="dgx01.ocp4.scale.ibm.com",
    server_node="dgx02.ocp4.scale.ibm.com",
    hca="mlx5_1",
    hcas=("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"),
    image="mellanox/centos_7_4_mofed_4_2_1_2_0_0_60:latest",
    account="mpi",
    rdma_resources=("rdma/shared_ib1",),
)
"""Of the Redpaper's lab."""

T = TypeVar("T", bound=Reading)


def _of(kind: type[T], lines: tuple[str, ...]) -> list[T]:
    return [one for one in jobs.readings(lines) if isinstance(one, kind)]


def _shell(job: Launched, args: RdmaTestArgs = ARGS) -> Printed:
    return pod_commands.simulate(replace(job, words=("/bin/sh", "-c", client_script(args))))


def test_the_whole_test_reads_as_the_papers() -> None:
    """The evidence parsers read the log, and its figures are the Redpaper's."""
    printed = _shell(jobs.rdma_test())
    assert printed.exit_code == 0
    found = jobs.readings(printed.lines)
    assert [(one.tool, one.incomplete) for one in found if not one.complete] == []
    assert [one.text for each in found for one in each.unread] == []
    (who,) = _of(WhoAmI, printed.lines)
    assert who.uid == 1075480000
    (devices,) = _of(RdmaDevices, printed.lines)
    assert devices.counts == {"issm": 4, "rdma_cm": 1, "ucm": 4, "umad": 4, "uverbs": 4}
    assert [row.minor for row in devices.rows if row.name == "uverbs3"] == [195]
    (net,) = _of(NetDevices, printed.lines)
    assert [row.name for row in net.rows] == ["eth0", "lo"]
    (status,) = _of(IbStatus, printed.lines)
    assert [(row.device, row.up, row.width, row.link_layer) for row in status.rows] == [
        (f"mlx5_{number}", True, "4X EDR", "InfiniBand") for number in range(4)
    ]
    assert len({row.base_lid for row in status.rows}) == 4
    assert {row.sm_lid for row in status.rows} == {"0x9"}
    lists = _of(IbHosts, printed.lines)
    assert [one.hca for one in lists] == [f"mlx5_{number}" for number in range(4)]
    assert {frozenset(row.guid for row in one.rows) for one in lists} == {frozenset(row.guid for row in lists[0].rows)}
    assert [len(one.rows) for one in lists] == [17] * 4
    assert sum(row.aggregation_node for row in lists[0].rows) == 1
    (bandwidth,) = _of(Perftest, printed.lines)
    (row,) = bandwidth.bandwidth
    assert row.average_mb_s == pytest.approx(11264.11, rel=0.005)
    assert (row.bytes, row.iterations, bandwidth.mtu_bytes, bandwidth.device) == (65536, 5000, 4096, "mlx5_1")
    assert bandwidth.contradictions == ()


def test_both_ends_print_the_same_figures_and_each_others_address() -> None:
    """The listener prints the measurement of its client."""
    client = jobs.rdma_test()
    server = client.peers[jobs.LISTENER]
    alone = replace(client, me=server, peers={}, run="another pod, another run")
    waiting = perftest.perftest(("ib_write_bw", "-d", "mlx5_1"), alone)
    assert (waiting.waits, waiting.exit_code) == (True, 0)
    assert "* Waiting for client to connect... *" in waiting.lines
    called = perftest.perftest(("ib_write_bw", "-d", "mlx5_1"), replace(alone, peers={"mofed-test-job": client.me}))
    (listened,) = _of(Perftest, called.lines)
    (measured,) = _of(Perftest, perftest.perftest(("ib_write_bw", jobs.LISTENER, "-d", "mlx5_1"), client).lines)
    assert (listened.role, measured.role) == ("server", "client")
    assert [end.qpn for end in listened.local] == [end.qpn for end in measured.remote]
    assert listened.bandwidth[0].average_mb_s == measured.bandwidth[0].average_mb_s


def test_without_memlock_nothing_is_measured() -> None:
    """A missing memlock limit fails the test."""
    nodes = jobs.machines(memlock_unlimited=False)
    printed = perftest.perftest(("ib_write_bw", jobs.LISTENER, "-d", "mlx5_1"), jobs.rdma_test(nodes))
    assert (printed.exit_code, printed.message) == (1, "Couldn't allocate MR")
    as_root = perftest.perftest(("ib_write_bw", jobs.LISTENER, "-d", "mlx5_1"), jobs.rdma_test(nodes, uid=0))
    # The other end still may not pin.
    assert (as_root.exit_code, as_root.lines[0]) == (1, perftest.PEER_ENDED[0])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("ib_write_bw", jobs.LISTENER, "-d", "mlx5_9"), "IB device mlx5_9 not found"),
        (("ib_write_bw", "nobody", "-d", "mlx5_1"), "Couldn't connect to nobody:18515"),
        (("ib_write_bw", jobs.LISTENER, "-d", "mlx5_2"), "Port number 1 state is Down"),
        (("ib_write_bw", jobs.LISTENER, "-d", "mlx5_3"), "Couldn't get context for the device"),
    ],
)
def test_what_is_missing_ends_the_measurement(words: tuple[str, ...], why: str) -> None:
    """An adapter that does not exist, was not given, or has no link fails the measurement."""
    nodes = jobs.machines(ports_down=frozenset({"mlx5_2"}))
    printed = perftest.perftest(words, jobs.rdma_test(nodes, devices=("mlx5_0", "mlx5_1", "mlx5_2")))
    assert (printed.exit_code, printed.message) == (1, why)


def test_a_port_without_link_is_down_and_unseen() -> None:
    """An unplugged cable shows in ibstatus and in the other hosts' list of adapters."""
    one, other = jobs.machines(ports_down=frozenset({"mlx5_2"}))
    job = jobs.rdma_test((one, replace(other, ports_down=frozenset())))
    (status,) = _of(IbStatus, ports.ibstatus(("ibstatus",), job).lines)
    assert [row.device for row in status.rows if not row.up] == ["mlx5_2"]
    (seen,) = _of(IbHosts, ports.ibhosts(("ibhosts", "-C", "mlx5_0"), job).lines)
    assert "dgx01 HCA-3" not in {row.name for row in seen.rows}
    assert "dgx02 HCA-3" in {row.name for row in seen.rows}
    assert ports.ibhosts(("ibhosts", "-C", "mlx5_2"), job).exit_code == 1


def test_management_is_for_root_below_a_drivers_container() -> None:
    """Ibhosts fails without the rights that it needs on RHCOS, and the test goes on."""
    job = jobs.rdma_test(jobs.machines(DGX_A100, umad_for_all=False))
    assert ports.ibhosts(("ibhosts", "-C", "mlx5_0"), job).exit_code == 1
    (devices,) = _of(RdmaDevices, listings.ls(("ls", "-l", "/dev/infiniband", "/sys/class/net"), job).lines)
    assert {row.name for row in devices.rows if row.mode[7:9] != "rw"} == {
        f"{kind}{number}" for kind in ("umad", "issm") for number in range(10)
    }


def test_only_given_devices_are_in_the_pod() -> None:
    """The resource of a port that does not exist gives no device (upstream issue 44)."""
    job = jobs.rdma_test(devices=("mlx5_1",))
    (devices,) = _of(RdmaDevices, listings.ls(("ls", "-l", "/dev/infiniband"), job).lines)
    assert [row.name for row in devices.rows] == ["issm1", "rdma_cm", "ucm1", "umad1", "uverbs1"]
    none = listings.ls(("ls", "-l", "/dev/infiniband", "/sys/class/net"), jobs.rdma_test(devices=()))
    assert none.exit_code == 2
    assert "cannot access '/dev/infiniband'" in none.message


def test_ethernet_ports_say_so() -> None:
    """RoCE has its own link layer, address table and packet overhead."""
    job = jobs.rdma_test(jobs.machines(DGX_A100, ethernet=True), networks=("adas/rail1",))
    (status,) = _of(IbStatus, ports.ibstatus(("ibstatus",), job).lines)
    assert {(row.link_layer, row.base_lid, row.up) for row in status.rows} == {("Ethernet", "0x0", True)}
    printed = _shell(job, ARGS.model_copy(update={"roce": True, "traffic_class": 106, "hcas": ()}))
    assert printed.exit_code == 0
    (found,) = _of(Perftest, printed.lines)
    assert (found.link_type, found.gid_index, found.mtu_bytes) == ("Ethernet", 3, 1024)
    assert found.local[0].gid is not None
    rate = 200e9 / 8 / (1 << 20) * 1024 / (1024 + ports.ROCE_OVERHEAD)
    assert found.bandwidth[0].average_mb_s == pytest.approx(rate, rel=0.005)


def test_larger_ports_have_larger_packets() -> None:
    """An MTU of 9216 gives RDMA its packets of 4096 bytes where both ends have it, and the log shows the MTU."""
    hca = DGX_A100.hcas[0]
    large: dict[str, Any] = {"ethernet": True, "interfaces": {hca.name: "rail0"}, "mtus": {"rail0": 9216}}
    both = jobs.machines(DGX_A100, **large)
    args = ARGS.model_copy(update={"roce": True, "hca": hca.name, "hcas": ()})
    lines = _shell(jobs.rdma_test(both, networks=("adas/rail0",), network_mtus=(9216,)), args).lines
    (found,) = _of(Perftest, lines)
    assert found.mtu_bytes == 4096
    _, mtus = _of(NetDevices, lines)
    assert {row.name: row.mtu for row in mtus.rows} == {"eth0": 1450, "lo": 65536, "net1": 9216}
    mixed = (both[0], *jobs.machines(DGX_A100, **(large | {"mtus": {}}))[1:])
    (found,) = _of(Perftest, _shell(jobs.rdma_test(mixed, networks=("adas/rail0",)), args).lines)
    assert found.mtu_bytes == 1024


@pytest.mark.parametrize(
    "test", ["ib_write_bw", "ib_send_bw", "ib_read_bw", "ib_write_lat", "ib_send_lat", "ib_read_lat"]
)
def test_every_program_of_perftest_reads(test: str) -> None:
    """The tables of ib_write_bw's sisters can be parsed."""
    printed = perftest.perftest((test, jobs.LISTENER, "-d", "mlx5_0", "-a"), jobs.rdma_test())
    (found,) = _of(Perftest, printed.lines)
    assert found.complete, found.incomplete
    assert len(found.bandwidth or found.latency) == 23
    assert found.contradictions == ()
    assert found.unread_total == 0


def test_a_faster_link_is_faster_in_proportion() -> None:
    """Other machines than the Redpaper's have other figures."""
    edr, hdr = (ports.link_mb_s(jobs.machines(profile)[0], rate, 4096) for profile, rate in _RATES)
    assert hdr / edr == pytest.approx(2)


_RATES = ((DGX1_V100_16GB, 100), (DGX_A100, 200))


def test_the_same_run_has_the_same_log_and_another_one_other_figures() -> None:
    """Repeats differ, and a log is the same whenever it is read."""
    job = jobs.rdma_test()
    assert _shell(job) == _shell(job)
    again = replace(job, run="two", me=replace(job.me, name="mofed-test-job-2zz8f"))
    (one,), (other,) = (_of(Perftest, _shell(each).lines) for each in (job, again))
    assert one.bandwidth[0].average_mb_s != other.bandwidth[0].average_mb_s


def test_nobody_else_makes_it_raise() -> None:
    """No command line raises."""
    hostile: tuple[tuple[str, ...], ...] = (
        ("ib_write_bw",),
        ("ib_write_bw", "-d"),
        ("ib_write_bw", "-s", "x", "a", "b"),
        ("ibhosts", "-C"),
    )
    for words in hostile:
        for job in (jobs.rdma_test(), replace(jobs.rdma_test(), peers={}, machines=())):
            assert isinstance(pod_commands.program(words, job), Printed)


def test_limits_and_links() -> None:
    """Ulimit prints the node's limit, and ifconfig the overlay's MTU."""
    low = jobs.rdma_test(jobs.machines(memlock_unlimited=False))
    assert listings.ulimit(("ulimit", "-l"), low).lines == ("64",)
    assert listings.ulimit(("ulimit", "-l"), jobs.rdma_test()).lines == ("unlimited",)
    for lines in (listings.ifconfig((), low).lines, listings.ip(("ip", "link"), low).lines):
        (net,) = _of(NetDevices, lines)
        assert [(row.name, row.mtu) for row in net.rows if row.name == "eth0"] == [("eth0", 1450)]


def test_storage_has_a_fabric_of_its_own() -> None:
    """Compute and storage ports are two fabrics."""
    job = jobs.rdma_test(jobs.machines(DGX_A100))
    (status,) = _of(IbStatus, ports.ibstatus(("ibstatus",), job).lines)
    storage = {hca.name for hca in DGX_A100.storage_hcas}
    assert storage
    assert {row.sm_lid for row in status.rows if row.device in storage} == {"0x1"}
    assert {row.sm_lid for row in status.rows if row.device not in storage} == {"0x9"}
