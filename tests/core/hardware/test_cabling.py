"""Cables of the lab."""

import pytest

from core.hardware.cabling import ESS3000, cabling
from tests.support.machines import DGX1_V100_16GB


def test_the_lab_has_sixteen_cables_in_balance() -> None:
    """The lab has eight ports on each side of the switch."""
    lab = cabling(("dgx01", "dgx02"), DGX1_V100_16GB, ESS3000)
    assert len(lab.cables) == 16
    assert {cable.rate_gbps for cable in lab.cables} == {100}
    assert (len(lab.compute), len(lab.storage)) == (8, 8)
    assert lab.balance == 1


def test_the_lab_shows_the_adapters_that_ibhosts_lists() -> None:
    """The lab's adapters are those that ibhosts lists."""
    assert cabling(("dgx01", "dgx02"), DGX1_V100_16GB, ESS3000).channel_adapters == {
        *(f"dgx0{host} HCA-{port}" for host in (1, 2) for port in (1, 2, 3, 4)),
        *(f"fscc-fab3-3-{canister} HCA-{port}" for canister in "ab" for port in (2, 3, 4, 5)),
    }


def test_more_machines_shift_the_balance() -> None:
    """The balance follows the number of machines."""
    assert cabling([f"dgx0{host}" for host in range(4)], DGX1_V100_16GB, ESS3000).balance == 0.5


def test_a_full_switch_is_refused() -> None:
    """More cables than ports are refused."""
    with pytest.raises(ValueError, match="44 cables for a switch of 40 ports"):
        cabling([f"dgx{host}" for host in range(9)], DGX1_V100_16GB, ESS3000)
    with pytest.raises(ValueError, match="no machines"):
        cabling([], DGX1_V100_16GB, ESS3000)


def test_the_storage_is_the_papers() -> None:
    """Two canisters and the server beside them, with their systems, and 40 GB/s, which their ports carry."""
    assert [(server.what, server.count, server.system) for server in ESS3000.servers] == [
        ("canister", 2, "RHEL 8.1"),
        ("Lenovo SR650", 1, "RHEL 7.6"),
    ]
    assert {"GUI", "REST", "quorum", "management"} == {*ESS3000.servers[1].roles}
    assert (ESS3000.scale, ESS3000.gbs, ESS3000.rack_units, ESS3000.ports_gbs) == ("5.0.4.3", 40, 2, 100)
