"""GPUs and the drivers that know them."""

import pytest

from hardware.gpus import AMPERE, VOLTA


def test_volta_stays_on_its_last_branch() -> None:
    """Prevents a driver that ignores the V100: nvidia.com/gpu then stays at 0 (platform-facts 1.1)."""
    assert VOLTA.accepts_driver("580.95.05")
    assert VOLTA.accepts_driver("440.33.01")
    assert not VOLTA.accepts_driver("595.91.07")
    assert AMPERE.accepts_driver("595.91.07")


def test_volta_needs_the_proprietary_module() -> None:
    """Prevents the open kernel module and DMA-BUF on GPUs older than Turing."""
    assert (VOLTA.kernel_module, VOLTA.peer_memory, VOLTA.last_cuda) == ("proprietary", "nvidia-peermem", 12)
    assert (AMPERE.kernel_module, AMPERE.peer_memory, AMPERE.last_cuda) == ("auto", "dma-buf", None)


def test_a_driver_without_a_branch_is_refused() -> None:
    """Prevents `latest` from passing as a branch that is new enough or old enough."""
    with pytest.raises(ValueError, match="driver version 'latest' does not start with a branch"):
        VOLTA.accepts_driver("latest")
