"""Adapters by the names that machines have."""

import pytest

from core.hardware.adapters import UNKNOWN, adapter, model_of
from core.hardware.profiles import PROFILES


@pytest.mark.parametrize(
    ("model", "ca_type"),
    [
        ("ConnectX-7", 4129),
        ("ConnectX-6, dual-port", 4123),
        ("ConnectX-4 MT27700", 4115),
        ("BlueField-3, dual-port", 41692),
        ("ConnectX-6 Dx", 4125),
        ("MT4129", 4129),
        ("MT4135", 4135),
    ],
)
def test_an_adapter_has_the_number_of_its_chip(model: str, ca_type: int) -> None:
    """The longest name that ports.adapter begins with decides, and a CA type is its own number."""
    assert adapter(model).ca_type == ca_type


def test_a_ca_type_has_the_model_of_its_number() -> None:
    """A CA type of the file has that adapter's names; another has none."""
    assert adapter("MT4129") == adapter("ConnectX-7")
    assert (model_of("MT4125"), model_of("MT4135")) == ("ConnectX-6 Dx", None)


def test_an_unknown_adapter_has_none() -> None:
    """Nothing is guessed of a model that the file does not have."""
    assert {adapter(model) == UNKNOWN for model in ("EDR, model not given", "MT27700", "MT42822")} == {True}


def test_adapters_of_known_ports_are_known() -> None:
    """Every machine whose ports have names has adapters of the file."""
    every = [(each.ports, each.storage_ports, each.inband_ports) for each in PROFILES.values() if each.hcas]
    assert [ports.adapter for group in every for ports in group if ports and adapter(ports.adapter) == UNKNOWN] == []
