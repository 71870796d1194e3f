"""/proc/net/bonding/bond0, in the form of drivers/net/bonding/bond_procfs.c."""

from tests.support.mutated import only, read_text
from tests.toolkit.evidence.tools.logs import BOND
from toolkit.evidence.tools.bonding import Bonding


def test_a_bond_by_lacp() -> None:
    """A bond with one of two ports up is read as such."""
    found = only(Bonding, "# cat /proc/net/bonding/bond0\n" + BOND)
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
    """A partner of zeros is none."""
    assert not only(Bonding, BOND.replace("b8:ce:f6:01:02:03", "00:00:00:00:00:00")).lacp


def test_a_bond_that_is_cut_off() -> None:
    """A port without its state is not read as up."""
    found = only(Bonding, BOND.partition("Link Failure Count: 3")[0])
    assert ([p.name for p in found.rows], found.incomplete) == (["ens1f0np0"], "ens1f1np1: no Link Failure Count")
    assert only(Bonding, BOND.partition("Slave")[0]).incomplete == "no port"


def test_two_bonds_are_distinguished() -> None:
    """Ports belong to the bond above them."""
    found = read_text(BOND + BOND)
    assert [len(one.rows) for one in found if isinstance(one, Bonding)] == [2, 2]
