"""Placement arithmetic."""

import pytest

from hardware.placement import Reserve, Share, fits, share, waves
from hardware.profiles import DGX1_V100_16GB

DGX = {"dgx01": {"gpu": 8}, "dgx02": {"gpu": 8}}


def test_sixteen_single_gpu_pods_fit_two_nodes() -> None:
    """Prevents a job of the paper's own layout from being called too large."""
    assert fits([{"gpu": 1}] * 16, DGX)
    assert not fits([{"gpu": 1}] * 17, DGX)


def test_a_pod_is_not_split_over_nodes() -> None:
    """Prevents counting GPUs of the cluster where a pod needs them on one node."""
    assert not fits([{"gpu": 5}, {"gpu": 5}, {"gpu": 5}], DGX)
    assert not fits([{"gpu": 9}], DGX)


def test_large_pods_are_placed_first() -> None:
    """Prevents refusing a set only because small pods were listed first."""
    assert fits([{"gpu": 1}, {"gpu": 7}, {"gpu": 8}], DGX)


def test_jobs_that_do_not_fit_together_run_one_after_another() -> None:
    """Prevents two jobs from holding a node each and waiting for ever, as there is no gang scheduling."""
    full = [{"gpu": 8}] * 2
    assert waves([("a", full), ("b", full)], DGX) == [["a"], ["b"]]
    assert waves([("a", [{"gpu": 8}]), ("b", [{"gpu": 8}]), ("c", [{"gpu": 1}])], DGX) == [["a", "b"], ["c"]]


def test_a_job_that_never_fits_stays_visible() -> None:
    """Prevents dropping a job silently: alone in its wave, it is pending where the user sees it."""
    assert waves([("huge", [{"gpu": 9}])], DGX) == [["huge"]]


def test_shares_of_all_gpus_leave_the_reserve() -> None:
    """Prevents workers whose memory limits together push the file system's pagepool out of the node."""
    reserve = Reserve(cpus=8, memory_gib=144)
    assert share(DGX1_V100_16GB, 8, reserve) == Share(cpus=72, memory_gib=368)
    one = share(DGX1_V100_16GB, 1, reserve)
    assert one.cpus * 8 + reserve.cpus <= DGX1_V100_16GB.cpus
    assert one.memory_gib * 8 + reserve.memory_gib <= DGX1_V100_16GB.memory_gib


def test_a_reserve_leaves_something() -> None:
    """Prevents a limit of no memory, which the kubelet takes for no limit."""
    with pytest.raises(ValueError, match="less than one of each; lower it"):
        share(DGX1_V100_16GB, 1, Reserve(memory_gib=510))
