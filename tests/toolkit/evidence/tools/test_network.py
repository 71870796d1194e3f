"""The network of a pod: devices in five forms, and addresses of names."""

from pathlib import Path

from tests.support.mutated import mutations, only, read_text
from tests.toolkit.evidence.tools.logs import IP_LINK as IP
from toolkit.evidence.tools.network import GetentHosts, NetDevices

LOGS = Path(__file__).parent.parent / "logs" / "net-devices"


def test_the_pod_of_the_blog_has_one_adapter() -> None:
    """The MTU of the blog's overlay is read."""
    found = only(NetDevices, LOGS / "b-7.1.log")
    assert [(row.name, row.mtu, row.up, row.address, row.line) for row in found.rows] == [
        ("eth0", 1450, True, "10.129.7.178", 1),
        ("lo", 65536, True, "127.0.0.1", 10),
    ]
    assert (found.complete, found.unread) == (True, ())


def test_ip_and_ifconfig_of_today() -> None:
    """eth0@if42 is eth0."""
    found = only(NetDevices, "+ ip -d addr\n" + IP)
    assert [(row.name, row.mtu, row.up, row.address) for row in found.rows] == [
        ("lo", 65536, True, None),
        ("eth0", 1400, True, "10.128.2.21"),
        ("net1", 9000, False, None),
    ]
    assert found.unread == ()
    new = only(
        NetDevices,
        "eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 9000\n"
        "        inet 10.0.0.5  netmask 255.255.255.0  broadcast 10.0.0.255\n"
        "        ether 0a:58:0a:80:02:15  txqueuelen 0  (Ethernet)\n        RX packets 5  bytes 400 (400.0 B)\n",
    )
    assert [(row.name, row.mtu, row.up, row.address) for row in new.rows] == [("eth0", 9000, True, "10.0.0.5")]


def test_files_of_sysfs_have_mtus_alone() -> None:
    """What grep prints of the files `mtu` is a run of its own behind a listing of the same devices."""
    listing = (
        "/sys/class/net:\ntotal 0\nlrwxrwxrwx. 1 root root 0 Jul  6 15:52 net1 -> ../../devices/virtual/net/net1\n"
    )
    listed, found = read_text(f"{listing}/sys/class/net/eth0/mtu:1400\n/sys/class/net/net1/mtu:9216\n")
    assert isinstance(listed, NetDevices)
    assert isinstance(found, NetDevices)
    assert [(row.name, row.mtu) for row in listed.rows] == [("net1", None)]
    assert [(row.name, row.mtu, row.up) for row in found.rows] == [("eth0", 1400, None), ("net1", 9216, None)]
    assert found.complete


def test_a_device_without_its_mtu_is_no_row() -> None:
    """A device without its MTU is not a row."""
    found = only(NetDevices, (LOGS / "b-7.1.log").read_text().partition("          UP LOOPBACK")[0])
    assert ([row.name for row in found.rows], found.incomplete) == (["eth0"], "lo: no MTU")
    cut = only(NetDevices, IP + "5: net2: <BROADCAST,MULTICAST> mt\n")
    assert (len(cut.rows), cut.incomplete) == (3, "1 damaged line")


_LOOP = """\
+ getent hosts mofed-test-job-listener
+ sleep 1
+ getent hosts mofed-test-job-listener
10.128.0.12     mofed-test-job-listener
+ ib_write_bw mofed-test-job-listener -d mlx5_1
"""


def test_a_loop_that_waits_is_one_reading() -> None:
    """A loop that waits for a name is one reading."""
    found, test = read_text(_LOOP)
    assert isinstance(found, GetentHosts)
    assert (found.name, found.tries, found.complete, found.unread_total) == ("mofed-test-job-listener", 2, True, 0)
    assert [(row.address, row.line) for row in found.rows] == [("10.128.0.12", 4)]
    assert test.tool == "perftest"


def test_a_name_without_an_address_is_incomplete() -> None:
    """A name without an address is incomplete."""
    found, *_ = read_text("\n".join(_LOOP.splitlines()[:3]))
    assert (found.complete, found.incomplete) == (False, "no address")


def test_other_names_and_bare_tables_are_not_taken() -> None:
    """Other names, and tables without the command, are not read."""
    found, *_ = read_text("+ getent hosts a\n10.0.0.1 b\n+ getent hosts b\nfe80::1         b b.c\n")
    assert isinstance(found, GetentHosts)
    assert (found.rows, found.unread_total) == ((), 1)
    assert not [one for one in read_text("10.0.0.1 a\n") if isinstance(one, GetentHosts)]


def test_damaged_logs() -> None:
    """Damaged logs do not raise, and add no address."""
    for raw in mutations(_LOOP, 200):
        for one in read_text(raw):
            for row in one.rows if isinstance(one, GetentHosts) else ():
                assert row.address in raw.decode(errors="replace")
