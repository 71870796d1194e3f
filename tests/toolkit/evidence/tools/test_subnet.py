"""An InfiniBand subnet: its adapters, its manager and its cables."""

from pathlib import Path

from tests.support.mutated import only, read_text
from toolkit.evidence.tools.ibhosts import IbHosts
from toolkit.evidence.tools.subnet import IbNetDiscover, IbSmNode

LOGS = Path(__file__).parent.parent / "logs"
_ONE = 'Ca\t: 0x248a0703001f0426 ports 1 "dgx02 HCA-3"\n'
_TWO = 'Ca\t: 0xec0d9a030044d2d0 ports 2 "MT4115 ConnectX4 Mellanox Technologies"\n'


def test_lists_that_follow_each_other_are_distinguished() -> None:
    """Lists of several HCAs are readings of their own."""
    found = [one for one in read_text(_ONE + _TWO + _TWO + _ONE) if isinstance(one, IbHosts)]
    assert [(one.hca, len(one.rows)) for one in found] == [(None, 2), (None, 2)]
    assert found[0].rows[1].ports == 2


def test_an_hca_that_cannot_ask_is_reported() -> None:
    """An HCA that cannot query the subnet is reported with its error."""
    found = only(
        IbHosts,
        "+ ibhosts -C mlx5_3\nibwarn: [31] mad_rpc_open_port: can't open UMAD port (mlx5_3:1)\n"
        "/usr/sbin/ibnetdiscover: iberror: failed: discover failed\n",
    )
    assert (found.hca, found.rows, found.complete, len(found.failed)) == ("mlx5_3", (), False, 2)


def test_a_damaged_adapter_is_unread() -> None:
    """An adapter with half a GUID is unread."""
    found = only(IbHosts, _ONE + 'Ca\t: 0xec0d9a03 ports 1 "dgx01 HCA-1"\n')
    assert (len(found.rows), found.incomplete, found.unread_total) == (1, "1 damaged line", 1)


def test_the_switch_runs_the_subnet_manager() -> None:
    """The state of the switch's subnet manager is read."""
    found = only(IbSmNode, LOGS / "ib-smnode" / "r-3.1-3.log")
    assert (found.node, found.enabled, found.line) == ("DGX-IB-switch1.kelsterbach.de.ibm.com", True, 2)
    off = only(IbSmNode, "switch > show ib smnode sw1\nsm-state disabled\n")
    assert (off.node, off.enabled, off.complete) == ("sw1", False, True)
    cut = only(IbSmNode, "switch > show ib smnode sw1\nsm-state ena\n")
    assert (cut.enabled, cut.complete, cut.unread_total) == (None, False, 1)


def test_what_our_test_says_of_it_is_read() -> None:
    """The RDMA test's message in place of a list is read."""
    (found,) = read_text("+ ibhosts -C mlx5_0\n+ echo 'x'\nmlx5_0: no list of hosts, umad is for root here\n")
    assert (found.tool, found.unread_total, found.complete) == ("ibhosts", 0, False)


LOG = Path(__file__).parent.parent / "logs" / "ibnetdiscover" / "cable-lanes.pass.log"
"""Printed by the real program on the Redpaper's lab, which ibsim simulated."""


def test_the_lab_has_its_cables() -> None:
    """Each cable is read at both ends; the switch's aggregation node is distinguished from adapters."""
    found = only(IbNetDiscover, LOG)
    assert found.complete
    assert found.unread_total == 0
    assert found.figures() == "1 switch, 17 CAs"
    first = next(row for row in found.rows if row.of_switch)
    assert (first.node, first.port, first.peer, first.peer_port) == ("dgx-ib-switch1", 1, "dgx01 HCA-1", 1)
    assert (first.lanes, first.speed, first.to_switch) == (4, "EDR", False)
    assert sum(row.aggregation_node for row in found.rows) == 2


def test_a_list_that_was_cut_is_not_complete() -> None:
    """Cables whose other end does not follow are counted."""
    text = LOG.read_text()
    found = only(IbNetDiscover, text[: text.index('Ca\t1 "H-000000000010000e"')])
    assert not found.complete
    assert found.incomplete == "8 cables without the other end"


def test_names_of_switches_and_ports_of_chassis() -> None:
    """A managed switch's description, a chassis' own port number and a cable between switches are read."""
    found = only(
        IbNetDiscover,
        "# Topology file: generated on Thu Nov 26 03:41:15 2026\n#\n"
        'Switch\t40 "S-1c34da0300000001"\t\t# "MF0;leaf-1:MQM8700/U1" enhanced port 0 lid 2 lmc 0\n'
        '[21][ext 5]\t"S-1c34da0300000002"[1]\t\t# "MF0;spine-1:MQM8700/U1" lid 3 2xHDR\n'
        'Switch\t40 "S-1c34da0300000002"\t\t# "MF0;spine-1:MQM8700/U1" enhanced port 0 lid 3 lmc 0\n'
        '[1]\t"S-1c34da0300000001"[21][ext 5]\t\t# "MF0;leaf-1:MQM8700/U1" lid 2 2xHDR\n',
    )
    assert found.complete
    assert [(row.port, row.peer_port, row.lanes, row.to_switch) for row in found.rows] == [
        (21, 1, 2, True),
        (1, 21, 2, True),
    ]
