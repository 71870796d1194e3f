"""Machines that are known, by their GPUs: what a node with the same GPUs is compared with."""

from functools import cache
from typing import Any, NamedTuple

from core.data_files import SUFFIX
from core.hardware.gpus import Gpu, resolve_gpu
from core.hardware.profiles.catalogue import INCOMPLETE, PROFILES, incomplete_fields
from toolkit.cli.hardware.machine_fields import MachineFields


class KnownMachine(NamedTuple):
    """A known machine."""

    gpu: Gpu
    gpus: int
    links: tuple[tuple[int, ...], ...]


def with_gpu(gpu: Any) -> list[KnownMachine]:
    """Return the known machines with a GPU, by its name in `architectures`."""
    return [machine for machine in _all_machines() if isinstance(gpu, str) and machine.gpu == resolve_gpu(gpu)]


@cache
def _all_machines() -> tuple[KnownMachine, ...]:
    whole = (KnownMachine(profile.gpu, profile.gpus, profile.nvlink.links) for profile in PROFILES.values())
    others = (incomplete_fields(path.stem) for path in sorted(INCOMPLETE.glob(f"*{SUFFIX}")))
    return (
        *whole,
        *(
            KnownMachine(
                resolve_gpu(machine["gpu"]), machine["gpus"], tuple(map(tuple, machine["nvlink"].get("links", ())))
            )
            for machine in others
        ),
    )


def lost_gpus(machine_fields: MachineFields) -> str | None:
    """Return that the node has fewer GPUs than its machine, by known machines with the same ones; None if not.

    A part of a machine's GPUs that divides their number is what virtual machines have.
    """
    gpus = machine_fields.fields.get("gpus")
    gpu_counts = {machine.gpus for machine in with_gpu(machine_fields.fields.get("gpu"))}
    if not gpus or not gpu_counts or any(gpus >= count or count % gpus == 0 for count in gpu_counts):
        return None
    counts = " or ".join(map(str, sorted(gpu_counts)))
    return (
        f"{gpus} GPUs, and known machines with these have {counts}: one may have left the bus: see "
        "`lspci -d 10de:` and Xid errors (`dmesg | grep -i xid`), reset or replace it, and read the node again"
    )
