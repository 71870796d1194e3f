"""Network devices: ifconfig of two generations, ip link, ip addr."""

from pathlib import Path

from tests.support.mutated import only, read_text
from tests.toolkit.evidence.tools.logs import IP_LINK as IP
from toolkit.evidence.tools.network import NetDevices

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
