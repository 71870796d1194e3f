"""Network devices: ifconfig of two generations, ip link, ip addr."""

from pathlib import Path

from evidence.reader import read
from evidence.tools.net_devices import NetDevices
from tests.support.mutated import read_text

LOGS = Path(__file__).parent.parent / "logs" / "net-devices"
IP = """\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
3: eth0@if42: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1400 qdisc noqueue state UP group default
    link/ether 0a:58:0a:80:02:15 brd ff:ff:ff:ff:ff:ff link-netnsid 0
    inet 10.128.2.21/23 brd 10.128.3.255 scope global eth0
       valid_lft forever preferred_lft forever
4: net1: <BROADCAST,MULTICAST> mtu 9000 qdisc mq state DOWN group default qlen 1000
    link/ether 0c:42:a1:11:22:33 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 9978
"""


def _devices(text: str) -> NetDevices:
    (found,) = read_text(text)
    assert isinstance(found, NetDevices)
    return found


def test_the_pod_of_the_blog_has_one_adapter() -> None:
    """Prevents the small MTU of an overlay from going unseen (B-7.1)."""
    (found,) = read(LOGS / "b-7.1.log")
    assert isinstance(found, NetDevices)
    assert [(row.name, row.mtu, row.up, row.address, row.line) for row in found.rows] == [
        ("eth0", 1450, True, "10.129.7.178", 1),
        ("lo", 65536, True, "127.0.0.1", 10),
    ]
    assert (found.complete, found.unread) == (True, ())


def test_ip_and_ifconfig_of_today() -> None:
    """Prevents eth0@if42 from being another device than eth0."""
    found = _devices("+ ip -d addr\n" + IP)
    assert [(row.name, row.mtu, row.up, row.address) for row in found.rows] == [
        ("lo", 65536, True, None),
        ("eth0", 1400, True, "10.128.2.21"),
        ("net1", 9000, False, None),
    ]
    assert found.unread == ()
    new = _devices(
        "eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 9000\n"
        "        inet 10.0.0.5  netmask 255.255.255.0  broadcast 10.0.0.255\n"
        "        ether 0a:58:0a:80:02:15  txqueuelen 0  (Ethernet)\n        RX packets 5  bytes 400 (400.0 B)\n"
    )
    assert [(row.name, row.mtu, row.up, row.address) for row in new.rows] == [("eth0", 9000, True, "10.0.0.5")]


def test_a_device_without_its_mtu_is_no_row() -> None:
    """Prevents a device of a cut log from having any MTU."""
    found = _devices((LOGS / "b-7.1.log").read_text().partition("          UP LOOPBACK")[0])
    assert ([row.name for row in found.rows], found.incomplete) == (["eth0"], "lo: no MTU")
    cut = _devices(IP + "5: net2: <BROADCAST,MULTICAST> mt\n")
    assert (len(cut.rows), cut.incomplete) == (3, "1 damaged line")
