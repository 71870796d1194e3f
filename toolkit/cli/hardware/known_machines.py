"""The machines that are known, complete or not, by what a node shows of its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.data_files import SUFFIX
from core.hardware.gpus import Gpu, resolve_gpu
from core.hardware.profiles.catalogue import INCOMPLETE, PROFILES, incomplete_fields


@dataclass(frozen=True)
class KnownMachine:
    """A machine of `core/hardware/machines`. None: it differs from site to site, or no source has it."""

    name: str
    complete: bool
    model: str
    gpu: Gpu | None
    gpus: int | None
    cpus: int | None
    memory_gib: tuple[int, ...]
    architecture: str
    links: tuple[tuple[int, ...], ...]
    """NVLinks between GPU i and GPU j; empty: none, or not known."""


@cache
def catalogue() -> tuple[KnownMachine, ...]:
    """Return all machines of `core/hardware/machines`, those that are to be completed last."""
    return (*_complete(), *(_incomplete(path.stem) for path in sorted(INCOMPLETE.glob(f"*{SUFFIX}"))))


def with_gpu(gpu: Any) -> list[KnownMachine]:
    """Return the known machines with a GPU, by its name in `architectures`."""
    return [machine for machine in catalogue() if isinstance(gpu, str) and machine.gpu == resolve_gpu(gpu)]


def _complete() -> Iterator[KnownMachine]:
    for name in sorted(PROFILES):
        machine = PROFILES[name]
        yield KnownMachine(
            name=name,
            complete=True,
            model=machine.model,
            gpu=machine.gpu,
            gpus=machine.gpus,
            cpus=machine.cpus,
            memory_gib=(machine.memory_gib, *machine.memory_options_gib),
            architecture=machine.cpu_architecture,
            links=machine.nvlink.links,
        )


def _incomplete(name: str) -> KnownMachine:
    fields = incomplete_fields(name)
    cores, memory, gpu = fields.get("cpu_cores"), fields.get("memory_gib"), resolve_gpu(fields.get("gpu"))
    return KnownMachine(
        name=name,
        complete=False,
        model=fields.get("model", name),
        gpu=gpu if isinstance(gpu, Gpu) else None,
        gpus=fields.get("gpus"),
        cpus=cores * fields.get("threads_per_core", 2) if cores else None,
        memory_gib=(memory,) if memory else (),
        architecture=fields.get("cpu_architecture", "x86_64"),
        links=tuple(map(tuple, fields.get("nvlink", {}).get("links", ()))),
    )
