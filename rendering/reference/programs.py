"""docs/programs.md: every program that a workload can name."""

from pathlib import Path

from rendering.reference import markdown, tables
from stacks.catalogue import CATALOGUE, LARGEST_MIB, Entry, Program
from stacks.images import IMAGES

FILE = tables.ROOT / "docs" / "programs.md"


def pages() -> dict[Path, str]:
    """Return the text of the page, by its file."""
    return {FILE: _page()}


def _page() -> str:
    programs = markdown.table(
        ("program", "kinds", "what it starts", "processes", "data", "needs", "images", "source"),
        [_row(program, entry) for program, entry in CATALOGUE.items()],
    )
    known = markdown.table(
        ("image", "CUDA", "NCCL", "sshd for v2beta1", "source"),
        [
            (
                f"`{image.reference}`",
                str(image.cuda),
                ".".join(map(str, image.nccl)) if image.nccl else "",
                "yes" if image.sshd else "no",
                image.source,
            )
            for image in IMAGES.values()
        ],
    )
    return f"""# Programs

A workload names one of these in `program`; the rest follows from the catalogue
([stacks/catalogue.py](../stacks/catalogue.py)). This page is written from it by `make docs`. `{{gpus}}` means the
GPUs of a pod; the setting `largest_mib` of a workload changes the largest message of nccl-tests. An update waits until
training has started, and until everything else has finished; training is not repeated by itself. Faults of the source
documents (E-...) are corrected. Without an `image` in the settings, the first one is used that GPUs and release
support; where the catalogue has none, the documents name none with a stable tag, and the settings must.

{programs}

## Images

Known ones ([stacks/images.py](../stacks/images.py)); others are used unchecked.

{known}
"""


def _command(entry: Entry) -> str:
    words = " ".join(entry.command).replace("{largest}", f"{LARGEST_MIB}M")
    return words.replace("{program}", entry.on_volume or "")


def _row(program: Program, entry: Entry) -> tuple[str, ...]:
    return (
        f"`{program}`{' (trains)' if entry.trains else ''}",
        ", ".join(f"`{kind}`" for kind in entry.kinds),
        f"`{_command(entry)}`" if entry.command else "what the image starts",
        "one a GPU" if entry.per_gpu else "one a pod",
        _data(entry),
        "; ".join(_needs(entry)),
        ", ".join(f"`{image}`" for image in entry.images),
        entry.source,
    )


def _data(entry: Entry) -> str:
    mounts = ", ".join(f"`{place}`{f' (folder {folder})' if folder else ''}" for place, folder in entry.mounts.items())
    return " at ".join(part for part in (_name(entry), mounts) if part)


def _name(entry: Entry) -> str:
    return f"{entry.data.name}, {entry.data.size_gb} GB," if entry.data else ""


def _needs(entry: Entry) -> list[str]:
    return [
        *([f"GPUs: {entry.gpus}"] if entry.gpus else []),
        *([f"GB a GPU: {entry.gpu_memory_gb}"] if entry.gpu_memory_gb else []),
    ]
