"""docs/reference/programs.md: every program that a workload can name."""

from pathlib import Path

from components.jobs.job_volumes import DATA, MountOptions
from stacks.programs import PROGRAMS, Program
from stacks.resolved.images import IMAGES
from toolkit.render.reference import markdown, tables

FILE = tables.ROOT / "docs" / "reference" / "programs.md"


def pages() -> dict[Path, str]:
    """Return the text of the page, by its file."""
    return {FILE: _page()}


def _page() -> str:
    programs = markdown.table(
        ("program", "kinds", "what it starts", "processes", "data", "needs", "images", "prints", "source"),
        [_row(name, program) for name, program in PROGRAMS.items()],
    )
    images = markdown.table(
        ("image", "CUDA", "NCCL", "sshd for v2beta1", "arm64", "source"),
        [
            (
                f"`{image.reference}`",
                str(image.cuda),
                ".".join(map(str, image.nccl)) if image.nccl else "",
                "yes" if image.sshd else "no",
                "no" if image.amd64_alone else "not checked",
                image.source,
            )
            for image in IMAGES.values()
        ],
    )
    return f"""# Programs

A workload names one of these programs in `program`, or one that the stack's settings define under `programs` with the
same fields ([your own](../guide/programs.md)). Each is a file in [stacks/programs](../../stacks/programs), from which
`make docs` writes this page. `{{gpus}}` means the GPUs of a pod. An update waits until training jobs have started, and
until all other jobs have finished; training is not repeated automatically. Errors in the source documents (E-...) are
corrected. Without an `image` in the settings, the first listed image that the GPUs and the release support is
used. Where none is listed, the documents name no image with a stable tag, and the settings must name one. Verification
reports missing evidence where a log lacks what its program prints.

{programs}

## Images

Known images ([stacks/resolved/images.py](../../stacks/resolved/images.py)); others are used unchecked.

{images}
"""


def _command(program: Program) -> str:
    words = " ".join(program.command).replace("{largest}", str(program.largest_mib))
    return words.replace("{program}", program.on_volume or "")


def _row(name: str, program: Program) -> tuple[str, ...]:
    return (
        f"`{name}`{' (trains)' if program.trains else ''}",
        ", ".join(f"`{kind}`" for kind in program.kinds),
        f"`{_command(program)}`" if program.command else "what the image starts",
        f"one per {program.processes_per}".replace("gpu", "GPU"),
        _data(program),
        "; ".join(_needs(program)),
        ", ".join(f"`{image}`" for image in program.images),
        ", ".join(f"`{tool}`" for tool in program.prints),
        program.source or "",
    )


def _data(program: Program) -> str:
    mounts = ", ".join(f"`{place}`{_mounted(mount)}" for place, mount in program.mounts.items())
    return " at ".join(part for part in (_name(program), mounts) if part)


def _mounted(mount: MountOptions) -> str:
    volume = [f"volume {mount.volume}"] if mount.volume != DATA else []
    parts = [
        *volume,
        *([f"folder {mount.folder}"] if mount.folder else []),
        *(["read-only"] if mount.read_only else []),
    ]
    return f" ({', '.join(parts)})" if parts else ""


def _name(program: Program) -> str:
    if program.data is None:
        return ""
    folder = f" in {program.data.folder}" if program.data.folder else ""
    return f"{program.data.name}, {program.data.size_gb} GB{folder},"


def _needs(program: Program) -> list[str]:
    return [
        *([f"GPUs: {program.gpus}"] if program.gpus else []),
        *([f"GB per GPU: {program.gpu_memory_gb}"] if program.gpu_memory_gb else []),
    ]
