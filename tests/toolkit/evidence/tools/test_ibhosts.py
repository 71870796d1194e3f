"""ibhosts without the lines of a shell, and `show ib smnode` of the switch."""

from pathlib import Path

from tests.support.mutated import only, read_text
from toolkit.evidence.tools.ibhosts import IbHosts
from toolkit.evidence.tools.subnet import IbSmNode

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
