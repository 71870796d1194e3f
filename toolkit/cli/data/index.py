"""`./hpc data index`: from a folder of images and labels to a catalogue."""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from core.datasets.card import Card
from core.progress import Step
from core.wording import plural
from toolkit.cli.data import chosen
from toolkit.cli.shared.console import Reporter, print_text, print_warning
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import path_option
from toolkit.datasets import indexing, labels
from toolkit.datasets.frames import FolderFrames, Frame, frames_of, list_files

_CHUNK = 16
"""Labels that a process is given at once: some tenths of a second of work."""

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the data set; files may be in subfolders.")]
CardOption = Annotated[str, typer.Option("--card", help="Card in core/datasets/cards, or your own card's file.")]
OutputOption = Annotated[Path, path_option("SQLite file to write, or to replace")]
PlatformOption = Annotated[
    str, typer.Option(help="Storage type that the records give, e.g. 'IBM COS', 'S3', 'NFS', 'Spectrum Scale'.")
]
DatasourceOption = Annotated[
    str | None, typer.Option(help="Bucket, export or file system that the records give; default: the card's name.")
]
ProcessesOption = Annotated[int | None, typer.Option(min=1, help="Processes that read labels; default: one per CPU.")]


def command(
    folder: Folder,
    card: CardOption,
    output: OutputOption = Path("catalogue.db"),
    *,
    platform: PlatformOption = "file",
    datasource: DatasourceOption = None,
    processes: ProcessesOption = None,
) -> None:
    """Write a catalogue of the frames of a data set.

    It has the pixels of each class in each frame. Every image needs its label, and every colour a class of the card;
    otherwise nothing is written. An older catalogue stays until the new one is complete.
    """
    class_card = chosen.find_card(card)
    now = datetime.now(UTC)  # before the files are listed: one that changes meanwhile is younger than its record
    with Reporter().step("listing files") as step:
        files = list_files(folder)
        folder_frames = frames_of(files, class_card)
        step.update(what=plural(len(folder_frames.frames), "frame"))
    with Reporter().step("counting pixels of classes") as step:
        frames = indexing.write(
            output,
            class_card,
            folder=str(folder.resolve()),
            origin=indexing.Origin(platform, datasource or class_card.name),
            counted=_counted(folder, folder_frames, class_card, processes or os.cpu_count() or 1, step),
            files=files,
            now=now,
        )
    if folder_frames.others:
        some = plural(len(folder_frames.others), "file belongs to no frame and is", "files belong to no frame and are")
        print_warning(f"{some} left out, e.g. {folder_frames.others[0]!r}")
    print_text(f"{output}: {plural(frames, 'frame')}, as of {now:%Y-%m-%d %H:%M:%S} UTC")


def _counted(
    folder: Path, folder_frames: FolderFrames, card: Card, processes: int, step: Step
) -> Iterator[tuple[Frame, Mapping[str, int]]]:
    """Yield every frame with the pixels of its classes, in order."""
    total = len(folder_frames.frames)
    files = [str(folder / frame.label) for frame in folder_frames.frames]
    names = [frame.label for frame in folder_frames.frames]
    with ProcessPoolExecutor(processes) as pool:
        results = pool.map(labels.pixels, map(Path, files), [card] * total, names, chunksize=_CHUNK)
        try:
            for number, (frame, pixels) in enumerate(zip(folder_frames.frames, results, strict=True), start=1):
                step.update(number, total, frame.label)
                yield frame, pixels
        except BrokenProcessPool:
            raise Problem(
                "a process that reads labels was killed", "Give it more memory, or run with fewer --processes."
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)
