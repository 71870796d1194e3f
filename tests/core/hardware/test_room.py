"""Racks and power."""

import pytest

from tests.support.machines import DGX1_V100_16GB, DGX_A100
from toolkit.cli.hardware.show.room import Rack, room


def test_a_pod_needs_its_power_and_height() -> None:
    """Racks follow from 6.5 kW and 6 units of each machine."""
    pod = room(DGX_A100, 140, Rack(units=42, watts=30000))
    assert (pod.watts, pod.rack_units, pod.nodes_per_rack, pod.racks) == (910_000, 840, 4, 35)


def test_height_can_be_what_limits() -> None:
    """Height limits a rack where power does not."""
    assert room(DGX_A100, 8, Rack(units=42, watts=60000)).racks == 2


def test_a_rack_that_holds_nothing_is_refused() -> None:
    """A rack with too little power for one machine is refused."""
    with pytest.raises(ValueError, match="a rack of 42 units and 5000 W holds no dgx-a100"):
        room(DGX_A100, 1, Rack(units=42, watts=5000))


def test_power_that_no_document_gives_is_not_guessed() -> None:
    """A machine without a documented power is refused."""
    with pytest.raises(ValueError, match="dgx1-v100-16gb: no source document gives its power"):
        room(DGX1_V100_16GB, 2, Rack(units=42, watts=30000))
