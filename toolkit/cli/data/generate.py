"""`./hpc data generate`: a small data set of our own, to try the other commands with."""

import shutil
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from core.wording import plural
from toolkit.cli.shared.console import Reporter, print_text
from toolkit.cli.shared.errors import Problem
from toolkit.datasets import generated

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="New folder for the images.")]
FramesOption = Annotated[
    int, typer.Option("--frames", min=generated.LEAST, max=generated.MOST, help="Images to generate.")
]
SeedOption = Annotated[int, typer.Option("--seed", help="Random seed: another one gives other images.")]


def command(folder: Folder, frames: FramesOption = 100, seed: SeedOption = 0) -> None:
    """Write a generated data set in the form of A2D2.

    It has images, labels in all 55 colours, and info files, but no pixel of A2D2. Names and shares are those that the
    Redpaper prints, so the Redpaper's queries return the printed rows.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Problem(f"{folder} exists and is not empty", "Name a new folder.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    partly = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        made = generated.frames(frames, seed)
        with Reporter().step("painting") as step, ProcessPoolExecutor() as pool:
            for number, _ in enumerate(pool.map(partial(generated.write, partly), made), start=1):
                step.update(number, len(made), f"{number} of {plural(len(made), 'frame')}")
        partly.chmod(0o755)
        partly.replace(folder)
    finally:
        shutil.rmtree(partly, ignore_errors=True)
    print_text(f"{folder}: {plural(len(made), 'frame')}, generated")
