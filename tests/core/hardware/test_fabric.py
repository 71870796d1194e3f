"""The fabrics of a POD, against the two tables of the slides."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.hardware.fabric import compute_fabric, leaf_of, ratio, storage_fabric, unit_of

COMPUTE = {
    # machines: units, leaf, spine, core, cables to leaf, to spine, to core
    10: (Fraction(1, 2), 8, 2, 0, 80, 80, 0),
    20: (1, 8, 4, 0, 160, 160, 0),
    40: (2, 16, 10, 0, 320, 320, 0),
    80: (4, 32, 20, 0, 640, 640, 0),
    100: (5, 40, 20, 0, 800, 800, 0),
    140: (7, 56, 80, 28, 1120, 1120, 560),
}
STORAGE = {
    # machines: units, storage ports, leaf, spine, cables to leaf, to spine, printed ratio
    10: (Fraction(1, 2), 4, 2, 1, 20, 20, "1:1"),
    20: (1, 8, 2, 1, 40, 32, "3:2"),
    40: (2, 16, 4, 2, 80, 64, "3:2"),
    80: (4, 32, 8, 4, 160, 128, "3:2"),
    100: (5, 40, 10, 4, 200, 160, "3:2"),
    140: (7, 56, 14, 8, 280, 224, "5:4"),
}
some_size = some.integers(min_value=1, max_value=140)


@pytest.mark.parametrize("nodes", sorted(COMPUTE))
def test_compute_rows_are_as_printed(nodes: int) -> None:
    """Sizes of the compute fabric are those of the table."""
    row = compute_fabric(nodes)
    printed = (row.units, row.leaf, row.spine, row.core, row.leaf_cables, row.spine_cables, row.core_cables)
    assert printed == COMPUTE[nodes]
    assert not row.estimate
    assert row.leaf_subscription == 1


@pytest.mark.parametrize("nodes", sorted(STORAGE))
def test_storage_rows_are_as_printed(nodes: int) -> None:
    """Sizes of the storage fabric are those of the table."""
    row = storage_fabric(nodes)
    assert STORAGE[nodes] == (
        row.units,
        row.storage_ports,
        row.leaf,
        row.spine,
        row.leaf_cables,
        row.spine_cables,
        row.printed_ratio,
    )
    assert not row.estimate


def test_the_spine_of_a_pod_has_half_the_bandwidth_upwards() -> None:
    """The spine of a POD has half the bandwidth upwards."""
    assert compute_fabric(140).spine_subscription == 2
    assert compute_fabric(100).spine_subscription is None


def test_both_subscription_ratios_are_distinguished() -> None:
    """Ratios with and without storage are distinguished."""
    both = {
        nodes: (ratio(row.machine_subscription), ratio(row.total_subscription))
        for nodes in STORAGE
        for row in [storage_fabric(nodes)]
    }
    assert both == {
        10: ("1:1", "6:5"),
        20: ("5:4", "3:2"),
        40: ("5:4", "3:2"),
        80: ("5:4", "3:2"),
        100: ("5:4", "3:2"),
        140: ("5:4", "3:2"),
    }


@given(some_size)
def test_every_switch_has_ports_for_its_cables(nodes: int) -> None:
    """Every switch of an estimate has ports for its cables."""
    compute, storage = compute_fabric(nodes), storage_fabric(nodes)
    assert compute.estimate == (nodes not in COMPUTE)
    assert storage.estimate == (nodes not in STORAGE)
    assert compute.leaf * 40 >= compute.leaf_cables + compute.spine_cables
    assert compute.spine * 40 >= compute.spine_cables + compute.core_cables
    assert compute.core * 40 >= compute.core_cables
    assert storage.leaf * 40 >= storage.leaf_cables + storage.storage_ports + storage.spine_cables
    assert storage.spine * 40 >= storage.spine_cables


@given(some_size.filter(lambda nodes: nodes > 100))
def test_more_than_two_levels_hold_get_a_core(nodes: int) -> None:
    """More machines than two levels hold get a core."""
    assert compute_fabric(nodes).core > 0


def test_all_is_counted() -> None:
    """Switches of all levels are counted."""
    assert (compute_fabric(140).switches, compute_fabric(140).cables) == (56 + 80 + 28, 1120 + 1120 + 560)
    assert (storage_fabric(140).switches, storage_fabric(140).cables) == (14 + 8, 280 + 224 + 56)


def test_an_hca_has_a_leaf_of_its_own_in_each_unit() -> None:
    """Each rail of a machine has its own leaf."""
    leaves = {rail: {leaf_of(node, rail) for node in range(140)} for rail in range(8)}
    assert all(len(switches) == 7 for switches in leaves.values())
    assert len(set.union(*leaves.values())) == 56
    with pytest.raises(ValueError, match="not 140 and 0"):
        leaf_of(140, 0)


def test_machines_with_the_same_leaves_are_of_one_unit() -> None:
    """POD and unit are those in which all rails of two machines have the same leaf switches."""
    for one, other in combinations(range(0, 140, 7), 2):
        leaves = [{leaf_of(node, rail) for rail in range(8)} for node in (one, other)]
        assert (unit_of(one) == unit_of(other)) is (leaves[0] == leaves[1])
    assert [unit_of(node) for node in (0, 19, 20, 139, 140, 165)] == [(1, 1), (1, 1), (1, 2), (1, 7), (2, 1), (2, 2)]


@pytest.mark.parametrize("nodes", [0, 141])
def test_no_machines_and_more_than_a_pod_are_refused(nodes: int) -> None:
    """No machines, and more than one POD, are refused."""
    for plan in (compute_fabric, storage_fabric):
        with pytest.raises(ValueError, match=f"a POD has 1 to 140 machines, not {nodes}; plan several"):
            plan(nodes)
