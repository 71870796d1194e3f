"""ibstatus and ibstat, in the forms of infiniband-diags: scripts/ibstatus, src/ibstat.c."""

from tests.support.mutated import only, read_text
from tests.toolkit.evidence.tools.logs import IBSTAT as CA
from toolkit.evidence.tools.ibstat import IbStat
from toolkit.evidence.tools.ibstatus import IbStatus

_PORT = """Infiniband device '{device}' port 1 status:
\tdefault gid:\t fe80:0000:0000:0000:0e42:a1ff:fe11:2233
\tbase lid:\t 0x0
\tsm lid:\t\t 0x0
\tstate:\t\t {state}
\tphys state:\t {phys}
\trate:\t\t {rate}
\tlink_layer:\t {layer}

"""
_UP = {
    "device": "mlx5_0",
    "state": "4: ACTIVE",
    "phys": "5: LinkUp",
    "rate": "100 Gb/sec (4X EDR)",
    "layer": "Ethernet",
}


def _status(**port: str) -> IbStatus:
    return only(IbStatus, _PORT.format(**{**_UP, **port}))


def test_rates_and_layers_of_other_fabrics() -> None:
    """Ports of RoCE, HDR and NDR are read."""
    for rate, figure, width in (
        ("200 Gb/sec (4X HDR)", 200.0, "4X HDR"),
        ("400 Gb/sec (4X NDR)", 400.0, "4X NDR"),
        ("25 Gb/sec (1X EDR)", 25.0, "1X EDR"),
        ("2.5 Gb/sec (1X SDR)", 2.5, "1X SDR"),
        ("2,5 Gb/sec (1X SDR)", 2.5, "1X SDR"),
        ("40 Gb/sec (4X)", 40.0, "4X"),
    ):
        found = _status(rate=rate)
        assert found.complete
        assert [(row.rate_gbps, row.width, row.link_layer) for row in found.rows] == [(figure, width, "Ethernet")]


def test_ports_that_are_not_up() -> None:
    """A port that waits for a subnet manager, or for its cable, is not up."""
    for state, phys in (("1: DOWN", "2: Polling"), ("2: INIT", "5: LinkUp"), ("1: DOWN", "3: Disabled")):
        (port,) = _status(state=state, phys=phys, rate="10 Gb/sec (4X)").rows
        assert (port.state, port.phys_state, port.up) == (state[3:], phys[3:], False)


def test_a_port_that_is_cut_off_is_no_row() -> None:
    """A port that is cut off is not a row."""
    text = _PORT.format(
        device="mlx5_0", state="4: ACTIVE", phys="5: LinkUp", rate="100 Gb/sec (4X EDR)", layer="Infini"
    )
    found = only(IbStatus, text)
    assert (found.rows, found.complete) == ((), False)
    assert found.incomplete == "port mlx5_0/1: no link_layer; 1 damaged line"
    assert [one.line for one in found.unread] == [8]


def test_each_rank_has_its_own_ports() -> None:
    """Mixed lines of two nodes make ports of their own."""
    one = _PORT.format(
        device="mlx5_0", state="4: ACTIVE", phys="5: LinkUp", rate="100 Gb/sec (4X EDR)", layer="InfiniBand"
    )
    two = one.replace("4: ACTIVE", "1: DOWN")
    both = zip(one.splitlines(), two.splitlines(), strict=True)
    found = read_text("".join(f"[1,0]<stdout>:{a}\n[1,1]<stdout>:{b}\n" for a, b in both))
    assert [(x.source, x.rows[0].state) for x in found if isinstance(x, IbStatus)] == [
        ("1,0", "ACTIVE"),
        ("1,1", "DOWN"),
    ]


def test_a_device_that_does_not_exist_is_reported() -> None:
    """The error of a device that does not exist is read."""
    found = only(IbStatus, "Fatal error:  device 'mlx5_9': sys files not found (/sys/class/infiniband/mlx5_9/ports)\n")
    assert not found.complete
    assert found.failed[0].startswith("device 'mlx5_9'")


def test_ibstat_tells_firmware_and_ports() -> None:
    """The output of ibstat is not read as that of ibstatus: it has firmware and ports."""
    found = only(IbStat, "+ ibstat\n" + CA + CA.replace("mlx5_0", "mlx5_1").replace("Active", "Initializing"))
    assert found.complete
    assert [(hca.device, hca.kind, hca.firmware) for hca in found.adapters] == [
        ("mlx5_0", "MT4123", "20.31.1014"),
        ("mlx5_1", "MT4123", "20.31.1014"),
    ]
    assert [(p.device, p.port, p.state, p.rate_gbps, p.base_lid, p.sm_lid, p.up) for p in found.rows] == [
        ("mlx5_0", 1, "Active", 200.0, 11, 9, True),
        ("mlx5_1", 1, "Initializing", 200.0, 11, 9, False),
    ]


def test_ibstat_that_is_cut_off_misses_its_port() -> None:
    """An adapter of ibstat without its port is incomplete."""
    found = only(IbStat, CA.partition("\tPort 1")[0])
    assert (found.rows, found.incomplete) == ((), "no port; mlx5_0: ports missing")
