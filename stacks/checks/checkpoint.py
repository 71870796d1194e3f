"""What is wrong between a program's checkpoints and the tenant's volume that they are on."""

from collections.abc import Iterator, Mapping

from stacks.programs import Program
from stacks.settings.storage import ScratchVolume, Volume


def problems(program: Program, volumes: Mapping[str, Volume]) -> Iterator[str]:
    """Yield why the checkpoints of a program cannot be written, or do not outlive its pods."""
    place = program.checkpoint_mount
    name = program.mounts[place].volume if place is not None else None
    if name is None or name not in volumes:
        return
    volume = volumes[name]
    if isinstance(volume, ScratchVolume):
        why = "of kind scratch is deleted with each pod"
    elif volume.read_only:
        why = "is read_only"
    else:
        return
    yield f"checkpoint {program.checkpoint}: volume {name} {why}; mount a directory or a claim there"
