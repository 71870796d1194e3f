"""/proc/net/bonding/bond0, in the form of drivers/net/bonding/bond_procfs.c."""

from evidence.tools.bonding import Bonding
from tests.support.mutated import read_text

BOND = """\
Ethernet Channel Bonding Driver: v5.14.0-427.13.1.el9_4.x86_64

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Transmit Hash Policy: layer3+4 (1)
MII Status: up
MII Polling Interval (ms): 100
Up Delay (ms): 0
Down Delay (ms): 0
Peer Notification Delay (ms): 0

802.3ad info
LACP active: on
LACP rate: fast
Min links: 0
Aggregator selection policy (ad_select): stable
System priority: 65535
System MAC address: 0c:42:a1:11:22:33
Active Aggregator Info:
\tAggregator ID: 1
\tNumber of ports: 2
\tActor Key: 21
\tPartner Key: 15
\tPartner Mac Address: b8:ce:f6:01:02:03

Slave Interface: ens1f0np0
MII Status: up
Speed: 25000 Mbps
Duplex: full
Link Failure Count: 0
Permanent HW addr: 0c:42:a1:11:22:33
Slave queue ID: 0
Aggregator ID: 1
Actor Churn State: none
Partner Churn State: none
Actor Churned Count: 0
Partner Churned Count: 0
details actor lacp pdu:
    system priority: 65535
    system mac address: 0c:42:a1:11:22:33
    port key: 21
    port priority: 255
    port number: 1
    port state: 63
details partner lacp pdu:
    system priority: 32768
    system mac address: b8:ce:f6:01:02:03
    oper key: 15
    port priority: 32768
    port number: 17
    port state: 61

Slave Interface: ens1f1np1
MII Status: down
Speed: Unknown
Duplex: Unknown
Link Failure Count: 3
Permanent HW addr: 0c:42:a1:11:22:34
Slave queue ID: 0
Aggregator ID: 2
"""


def _bond(text: str) -> Bonding:
    (found,) = read_text(text)
    assert isinstance(found, Bonding)
    return found


def test_a_bond_by_lacp() -> None:
    """Prevents a bond with one port of two from passing for one at its full speed."""
    found = _bond("# cat /proc/net/bonding/bond0\n" + BOND)
    assert (found.bond, found.complete, found.unread, found.lacp) == ("bond0", True, (), True)
    assert found.tool_version == "v5.14.0-427.13.1.el9_4.x86_64"
    assert (found.up, found.hash_policy, found.lacp_rate, found.aggregator, found.ports, found.partner) == (
        True,
        "layer3+4 (1)",
        "fast",
        1,
        2,
        "b8:ce:f6:01:02:03",
    )
    assert [(p.name, p.up, p.speed_mbps, p.duplex, p.failures, p.aggregator) for p in found.rows] == [
        ("ens1f0np0", True, 25000, "full", 0, 1),
        ("ens1f1np1", False, None, "Unknown", 3, 2),
    ]


def test_a_switch_without_lacp() -> None:
    """Prevents a partner of zeros from being one."""
    assert not _bond(BOND.replace("b8:ce:f6:01:02:03", "00:00:00:00:00:00")).lacp


def test_a_bond_that_is_cut_off() -> None:
    """Prevents a port without its state from being one that is up."""
    found = _bond(BOND.partition("Link Failure Count: 3")[0])
    assert ([p.name for p in found.rows], found.incomplete) == (["ens1f0np0"], "ens1f1np1: not all lines")
    assert _bond(BOND.partition("Slave")[0]).incomplete == "no port"


def test_two_bonds_are_told_apart() -> None:
    """Prevents the second bond's ports from being the first's."""
    found = read_text(BOND + BOND)
    assert [len(one.rows) for one in found if isinstance(one, Bonding)] == [2, 2]
