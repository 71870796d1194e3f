"""Node profiles: what one machine of a model has. One module per family."""

from collections.abc import Sequence

from hardware.profiles.dgx1 import DGX1_V100_16GB, DGX1_V100_32GB
from hardware.profiles.dgx2h import DGX2H
from hardware.profiles.dgx_a100 import DGX_A100
from hardware.profiles.records import (
    MELLANOX_PCI_VENDOR,
    NVIDIA_PCI_VENDOR,
    Hca,
    NumaNode,
    NvLink,
    Ports,
    Profile,
)
from hardware.profiles.supermicro import SYS_4029GP_TVRT

__all__ = [
    "DGX1_V100_16GB",
    "DGX1_V100_32GB",
    "DGX2H",
    "DGX_A100",
    "MELLANOX_PCI_VENDOR",
    "NVIDIA_PCI_VENDOR",
    "PROFILES",
    "SYS_4029GP_TVRT",
    "Hca",
    "NumaNode",
    "NvLink",
    "Ports",
    "Profile",
    "profile",
    "with_hcas",
    "with_memory",
]

PROFILES: dict[str, Profile] = {
    known.name: known for known in (DGX1_V100_16GB, DGX1_V100_32GB, DGX2H, DGX_A100, SYS_4029GP_TVRT)
}


def profile(name: str) -> Profile:
    """Return the profile called `name`; raise ValueError, naming the known ones, for another."""
    try:
        return PROFILES[name]
    except KeyError:
        raise ValueError(f"unknown hardware profile {name!r}; known: {', '.join(sorted(PROFILES))}") from None


def with_memory(machine: Profile, memory_gib: int) -> Profile:
    """Return the machine with another size of memory, GiB, of those that it is sold with (E-56).

    Raises ValueError, naming the sizes, for another.
    """
    sizes = (machine.memory_gib, *machine.memory_options_gib)
    if memory_gib not in sizes:
        raise ValueError(f"{machine.name} has {' or '.join(map(str, sizes))} GiB of memory, not {memory_gib}")
    others = tuple(size for size in sizes if size != memory_gib)
    return machine.model_copy(update={"memory_gib": memory_gib, "memory_options_gib": others})


def with_hcas(machine: Profile, hcas: Sequence[Hca]) -> Profile:
    """Return the machine with its compute ports named, in the order of the rails.

    For a profile whose documents give only their number. Raises ValueError (a pydantic one) where number, rate or
    GPUs contradict the machine.
    """
    return Profile.model_validate({**dict(machine), "hcas": tuple(hcas)})
