"""Placement arithmetic."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from core.hardware.placement import Reserve, Share, fits, plan, plan_within, share, waves
from tests.support.machines import DGX1_V100_16GB

DGX = {"dgx01": {"gpu": 8}, "dgx02": {"gpu": 8}}
FREE = {"dgx01": 8, "dgx02": 8}


def test_sixteen_single_gpu_pods_fit_two_nodes() -> None:
    """Sixteen pods with one GPU fit on two nodes of eight."""
    assert fits([{"gpu": 1}] * 16, DGX)
    assert not fits([{"gpu": 1}] * 17, DGX)


def test_a_pod_is_not_split_over_nodes() -> None:
    """A pod needs all its GPUs on one node."""
    assert not fits([{"gpu": 5}, {"gpu": 5}, {"gpu": 5}], DGX)
    assert not fits([{"gpu": 9}], DGX)


def test_large_pods_are_placed_first() -> None:
    """Whether pods fit does not depend on their order."""
    assert fits([{"gpu": 1}, {"gpu": 7}, {"gpu": 8}], DGX)


def test_jobs_that_do_not_fit_together_run_one_after_another() -> None:
    """Jobs that do not fit together are in different waves."""
    full = [{"gpu": 8}] * 2
    assert waves([("a", full), ("b", full)], DGX) == [["a"], ["b"]]
    assert waves([("a", [{"gpu": 8}]), ("b", [{"gpu": 8}]), ("c", [{"gpu": 1}])], DGX) == [["a", "b"], ["c"]]


def test_a_job_that_never_fits_stays_visible() -> None:
    """A job that never fits has a wave of its own."""
    assert waves([("huge", [{"gpu": 9}])], DGX) == [["huge"]]


def test_shares_of_all_gpus_leave_the_reserve() -> None:
    """Shares of all GPUs of a machine leave its reserve."""
    reserve = Reserve(cpus=8, memory_gib=144)
    assert share(DGX1_V100_16GB, 8, reserve) == Share(cpus=72, memory_gib=368)
    one = share(DGX1_V100_16GB, 1, reserve)
    assert one.cpus * 8 + reserve.cpus <= DGX1_V100_16GB.cpus
    assert one.memory_gib * 8 + reserve.memory_gib <= DGX1_V100_16GB.memory_gib


def test_a_reserve_leaves_something() -> None:
    """A reserve that leaves nothing for a GPU is refused."""
    with pytest.raises(ValueError, match="less than one of each; lower it"):
        share(DGX1_V100_16GB, 1, Reserve(memory_gib=510))


@pytest.mark.parametrize(
    ("free", "wanted", "layout"),
    [
        ({"dgx01": 1, "dgx02": 1}, 2, "02x01x02"),
        ({"dgx01": 1, "dgx02": 1, "dgx03": 1}, 3, "03x01x03"),
        ({"dgx01": 3, "dgx02": 1}, 4, "04x01x02"),
        ({"dgx01": 2, "dgx02": 2}, 4, "02x02x02"),
        ({"dgx01": 8, "dgx02": 8}, 16, "02x08x02"),
        ({"dgx01": 8, "dgx02": 8}, 8, "01x08x01"),
    ],
)
def test_cut_off_gpus_make_a_job(free: dict[str, int], wanted: int, layout: str) -> None:
    """A job may use single free GPUs of several nodes."""
    assert str(plan(free, wanted).options[0]) == layout


def test_layouts_come_in_the_order_of_their_pods() -> None:
    """Layouts are sorted by their number of pods."""
    assert [str(option) for option in plan(FREE, 16).options] == ["02x08x02", "04x04x02", "08x02x02", "16x01x02"]


def test_untouched_machines_stay_whole() -> None:
    """Partly used machines are filled before free ones."""
    assert plan({"dgx01": 8, "dgx02": 3}, 2).options[0].on == (("dgx02", 1),)


@pytest.mark.parametrize(
    ("free", "wanted", "gpus_per_pod", "reason"),
    [
        ({"dgx01": 1, "dgx02": 0}, 4, None, "4 GPUs wanted, 1 free; wait, or ask for fewer"),
        ({}, 1, None, "1 GPU wanted, 0 free; wait, or ask for fewer (free GPUs: no nodes)"),
        ({"dgx01": 3, "dgx02": 3}, 4, 4, "pods with 4 GPUs: 1 wanted, room for 0; the layout 02x02x02"),
        ({"dgx01": 8}, 6, 4, "6 GPUs are not a whole number of pods with 4 GPUs; ask for a multiple"),
        ({f"n{node:03d}": 0 for node in range(140)}, 1, None, "n007: 0, and 132 more)"),
    ],
)
def test_what_does_not_fit_says_why(free: dict[str, int], wanted: int, gpus_per_pod: int | None, reason: str) -> None:
    """A plan without a layout has the reason and the alternatives."""
    found = plan(free, wanted, gpus_per_pod)
    assert found.options == ()
    assert found.reason is not None
    assert reason in found.reason
    assert found.table() == found.reason


def test_a_plan_is_a_table() -> None:
    """A plan prints as a table with its layouts."""
    assert plan({"dgx01": 1, "dgx02": 1}, 2).table().splitlines() == [
        "layout    pods  GPUs per pod  nodes  placement",
        "02x01x02  2     1             2      dgx01: 1, dgx02: 1",
    ]


@pytest.mark.parametrize(("wanted", "gpus_per_pod"), [(0, None), (4, 0)])
def test_no_gpus_are_no_job(wanted: int, gpus_per_pod: int | None) -> None:
    """Zero GPUs are refused."""
    with pytest.raises(ValueError, match="a job needs at least one GPU"):
        plan({"dgx01": 8}, wanted, gpus_per_pod)


@settings(max_examples=60)
@given(some.dictionaries(some.sampled_from("abcdef"), some.integers(0, 16), max_size=6), some.integers(1, 24))
def test_a_plan_is_true(free: dict[str, int], wanted: int) -> None:
    """Plans use only free GPUs, no more nodes than needed, and refuse only what does not fit."""
    found = plan(free, wanted)
    assert bool(found.options) == (sum(free.values()) >= wanted) == (found.reason is None)
    for option in found.options:
        assert option.pods * option.gpus == wanted
        assert sum(pods for _, pods in option.on) == option.pods
        assert all(pods * option.gpus <= free[node] for node, pods in option.on)
        slots = sorted((count // option.gpus for count in free.values()), reverse=True)
        assert sum(slots[: option.nodes - 1]) < option.pods
    assert [option.pods for option in found.options] == sorted({option.pods for option in found.options})


def test_a_typing_mistake_costs_no_time() -> None:
    """An absurd number of GPUs is refused at once."""
    assert plan(FREE, 10**9).options == ()


def test_a_job_within_a_domain_takes_the_one_with_the_fewest_nodes() -> None:
    """Each layout is placed in one domain, and where none holds the job the reason is that of the largest."""
    first, second = {"a": 4, "b": 4}, {"c": 8, "d": 2}
    found = plan_within([first, second], 8)
    assert [str(option) for option in found.options] == ["01x08x01", "02x04x01", "04x02x01", "08x01x01"]
    assert found.options[0].on == (("c", 1),)
    none = plan_within([first, second], 12, level="leaf")
    assert none.options == ()
    assert none.reason is not None
    assert none.reason.startswith("in one leaf: 12 GPUs wanted, 10 free")
