"""Where the instances of a MIG configuration are on a GPU, and by which number NVML knows their profiles."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.data_files import read
from core.hardware.gpus import Gpu

_PROFILE = re.compile(r"^(?P<compute>\d)g\.(?P<memory>\d+)gb")
_NUMBERS: Mapping[int, Mapping[tuple[int, int], tuple[int, tuple[int, ...]]]] = {
    int(slices): {(entry["compute"], entry["memory"]): (entry["number"], tuple(entry["starts"])) for entry in entries}
    for slices, entries in read(Path(__file__).with_suffix(".yaml")).items()
}
"""Memory slices of a GPU -> compute and memory slices of a profile -> its number, and where it can start."""


@dataclass(frozen=True)
class Placement:
    """One instance: the name and number of its profile, its first memory slice, how many it has, of how many."""

    profile: str
    profile_id: int
    start: int
    size: int
    of: int

    @property
    def memory_slices(self) -> range:
        """Numbers of its memory slices."""
        return range(self.start, self.start + self.size)


def placements(gpu: Gpu, configuration: Mapping[str, int]) -> list[Placement]:
    """Return the instances of a configuration, largest first; raise ValueError for one that does not fit."""
    computing = max(sum(_compute(name) * number for name, number in sizes.items()) for sizes in gpu.mig.values())
    of = 4 if computing <= 4 else 8  # noqa: PLR2004 - there are GPUs of four slices, and of eight of which seven compute
    free, placed = {*range(of)}, list[Placement]()
    for profile in sorted(_each(configuration), key=lambda name: (-_compute(name), -_memory(name))):
        size = _size(_memory(profile) / gpu.memory_gb, of)
        number, starts = _NUMBERS[of].get((_compute(profile), size), (0, ()))
        start = next((start for start in starts if {*range(start, start + size)} <= free), None)
        if start is None:
            raise ValueError(f"MIG profile {profile} of {dict(configuration)} has no place on a {gpu.model}")
        placed.append(Placement(profile, number, start, size, of))
        free -= {*placed[-1].memory_slices}
    return sorted(placed, key=lambda placement: placement.start)


def _each(configuration: Mapping[str, int]) -> Iterable[str]:
    return (profile for profile, count in configuration.items() for _ in range(count))


def _size(share: float, of: int) -> int:
    """Return the memory slices of a share of a GPU: profiles have a power of two."""
    return min((1, 2, 4, 8), key=lambda size: abs(size / of - share))


def _compute(profile: str) -> int:
    match = _PROFILE.match(profile)
    return int(match["compute"]) if match else 0


def _memory(profile: str) -> int:
    match = _PROFILE.match(profile)
    return int(match["memory"]) if match else 0
