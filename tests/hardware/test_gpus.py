"""GPUs and the drivers that know them."""

import pytest

from hardware.gpus import AMPERE, VOLTA, Architecture


def test_volta_stays_on_its_last_branch() -> None:
    """Prevents a driver that ignores the V100: nvidia.com/gpu then stays at 0 (platform-facts 1.1)."""
    assert VOLTA.accepts_driver("580.95.05")
    assert VOLTA.accepts_driver("440.33.01")
    assert not VOLTA.accepts_driver("595.91.07")
    assert AMPERE.accepts_driver("595.91.07")


@pytest.mark.parametrize(
    ("architecture", "version", "known", "by_the_open_module"),
    [
        (VOLTA, "375.26", False, False),
        (VOLTA, "384.81", True, False),
        (VOLTA, "580.95.05", True, False),
        (AMPERE, "440.33.01", False, False),
        (AMPERE, "450.36.06", True, False),
        (AMPERE, "510.39.01", True, False),
        (AMPERE, "515.65.01", True, True),
    ],
)
def test_drivers_are_not_older_than_the_gpu(
    architecture: Architecture, version: str, *, known: bool, by_the_open_module: bool
) -> None:
    """Prevents a driver that does not know the GPU, or none of whose modules has DMA-BUF."""
    assert architecture.accepts_driver(version) is known
    assert architecture.accepts_driver(version, open_module=True) is by_the_open_module


def test_branches_are_told_in_words() -> None:
    """Prevents a remedy that is wrong at one of its ends."""
    assert VOLTA.branches() == "580, or an older one from 384 on"
    assert (AMPERE.branches(), AMPERE.branches(open_module=True)) == ("450 or later", "515 or later")


def test_volta_needs_the_proprietary_module() -> None:
    """Prevents the open kernel module and DMA-BUF on GPUs older than Turing."""
    assert (VOLTA.kernel_module, VOLTA.peer_memory, VOLTA.last_cuda) == ("proprietary", "nvidia-peermem", 12)
    assert (AMPERE.kernel_module, AMPERE.peer_memory, AMPERE.last_cuda) == ("auto", "dma-buf", None)


def test_a_driver_without_a_branch_is_refused() -> None:
    """Prevents `latest` from passing as a branch that is new enough or old enough."""
    with pytest.raises(ValueError, match="driver version 'latest' does not start with a branch"):
        VOLTA.accepts_driver("latest")
