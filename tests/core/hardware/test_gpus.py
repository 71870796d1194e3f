"""GPUs and the drivers that know them."""

import pytest

from core.hardware.gpus import ARCHITECTURES, Architecture
from tests.support.machines import AMPERE, VOLTA


def test_volta_stays_on_its_last_branch() -> None:
    """V100s accept drivers up to branch 580."""
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
    """Drivers before the GPU's first branch, or without DMA-BUF where needed, are refused."""
    assert architecture.accepts_driver(version) is known
    assert architecture.accepts_driver(version, open_module=True) is by_the_open_module


def test_branches_are_shown_as_text() -> None:
    """The text of accepted branches matches what is accepted."""
    assert VOLTA.branches() == "580, or an older one from 384 on"
    assert (AMPERE.branches(), AMPERE.branches(open_module=True)) == ("450 or later", "515 or later")


def test_volta_needs_the_proprietary_module() -> None:
    """V100s use the proprietary module, without DMA-BUF."""
    assert (VOLTA.kernel_module, VOLTA.peer_memory, VOLTA.last_cuda) == ("proprietary", "nvidia-peermem", 12)
    assert (AMPERE.kernel_module, AMPERE.peer_memory, AMPERE.last_cuda) == ("auto", "dma-buf", None)


def test_a_driver_without_a_branch_is_refused() -> None:
    """A version without a branch is refused."""
    with pytest.raises(ValueError, match="driver version 'latest' does not start with a branch"):
        VOLTA.accepts_driver("latest")


def test_blackwell_accepts_the_open_module_only() -> None:
    """Blackwell needs the open module, a driver that knows it, and CUDA 12.8."""
    blackwell = ARCHITECTURES["blackwell"]
    assert (blackwell.kernel_module, blackwell.peer_memory) == ("open", "dma-buf")
    assert (blackwell.first_cuda, blackwell.first_cuda_minor) == (12, 8)
    assert not blackwell.accepts_driver("565.57.01")
    assert blackwell.accepts_driver("580.95.05", open_module=True)


def test_an_unknown_first_branch_refuses_no_driver() -> None:
    """Where no source has the first branch only the open module sets one."""
    hopper = ARCHITECTURES["hopper"]
    assert (hopper.branches(), hopper.branches(open_module=True)) == ("any", "515 or later")
    assert hopper.accepts_driver("510.39.01")
    assert not hopper.accepts_driver("510.39.01", open_module=True)


@pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=ARCHITECTURES)
def test_every_architecture_and_gpu_has_its_source(architecture: Architecture) -> None:
    """Every file of an architecture is whole, and each of its GPUs names its source."""
    assert architecture.source
    assert all(gpu.source and gpu.architecture == architecture.name for gpu in architecture.gpus.values())


@pytest.mark.parametrize(("name", "has"), [("volta", False), ("turing", False), ("ampere", True), ("blackwell", True)])
def test_tf32_came_with_ampere(name: str, *, has: bool) -> None:
    """TF32 is there from compute capability 8.0 on."""
    assert ARCHITECTURES[name].has_tf32 is has
