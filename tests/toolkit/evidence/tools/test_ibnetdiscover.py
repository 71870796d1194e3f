"""ibnetdiscover's list of a subnet."""

from pathlib import Path

from tests.support.mutated import only
from toolkit.evidence.tools.subnet import IbNetDiscover

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
