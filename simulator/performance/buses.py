"""PCI buses of GPUs, by which nvidia-smi and nccl-tests name them."""

from hardware.profiles import Profile

_FIRST = 0x1A
"""Where no document gives them: one after the other from here."""


def bus(profile: Profile, gpu: int) -> int:
    """Return the PCI bus of a GPU."""
    return profile.gpu_buses[gpu] if profile.gpu_buses else _FIRST + gpu


def address(profile: Profile, gpu: int) -> str:
    """Return the PCI address of a GPU as nvidia-smi prints it, 00000000:06:00.0."""
    return f"00000000:{bus(profile, gpu):02X}:00.0"
