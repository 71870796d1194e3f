"""PCI buses of GPUs, by which nvidia-smi and nccl-tests name them."""

from collections.abc import Mapping
from types import MappingProxyType

from hardware.profiles import DGX1_V100_16GB, DGX1_V100_32GB, DGX_A100, Profile

_DGX1 = (0x06, 0x07, 0x0A, 0x0B, 0x85, 0x86, 0x89, 0x8A)
"""R-4.4-2."""
_KNOWN: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        DGX1_V100_16GB.name: _DGX1,
        DGX1_V100_32GB.name: _DGX1,
        # As the record of the ports (hardware/profiles/dgx_a100.py): NVIDIA/nccl issue 1505.
        DGX_A100.name: (0x07, 0x0F, 0x47, 0x4E, 0x87, 0x90, 0xB7, 0xBD),
    }
)
_FIRST = 0x1A
"""Where no document gives them: one after the other from here."""


def bus(profile: Profile, gpu: int) -> int:
    """Return the PCI bus of a GPU."""
    known = _KNOWN.get(profile.name)
    return known[gpu] if known else _FIRST + gpu


def address(profile: Profile, gpu: int) -> str:
    """Return the PCI address of a GPU as nvidia-smi prints it, 00000000:06:00.0."""
    return f"00000000:{bus(profile, gpu):02X}:00.0"
