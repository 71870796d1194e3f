"""Adapters by the names that machines have."""

import pytest

from hardware.adapters import UNKNOWN, adapter
from hardware.profiles import PROFILES


@pytest.mark.parametrize(
    ("model", "ca_type"),
    [
        ("ConnectX-7", 4129),
        ("ConnectX-6, dual-port", 4123),
        ("ConnectX-4 MT27700", 4115),
        ("BlueField-3, dual-port", 41692),
    ],
)
def test_an_adapter_has_the_number_of_its_chip(model: str, ca_type: int) -> None:
    """What ports.adapter begins with decides."""
    assert adapter(model).ca_type == ca_type


def test_an_unknown_adapter_has_none() -> None:
    """Nothing is guessed of a model that the file does not have."""
    assert adapter("EDR, model not given") == UNKNOWN


def test_adapters_of_known_ports_are_known() -> None:
    """Every machine whose ports have names has adapters of the file."""
    every = [(each.ports, each.storage_ports, each.inband_ports) for each in PROFILES.values() if each.hcas]
    assert [ports.adapter for group in every for ports in group if ports and adapter(ports.adapter) == UNKNOWN] == []
