"""Catalogues for tests, without the images behind them."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from core.datasets.card import LABEL, Card
from toolkit.datasets import generated, indexing
from toolkit.datasets.frames import FileFacts, Frame, frames_of
from toolkit.datasets.sqlite_catalogue import SqliteCatalogue

TIME = datetime(2020, 9, 25, 20, 27, 37, tzinfo=UTC)
COS = indexing.Origin("IBM COS", "a2d2")


def facts_of(images: Iterable[str], card: Card) -> dict[str, FileFacts]:
    """Return the files of images with their labels and infos, each of another size."""
    files: dict[str, FileFacts] = {}
    for image in images:
        companions = card.naming.companions(image)
        for name in (image, companions[LABEL], companions["info"]):
            files[name] = FileFacts(1000 + len(files), 1_600_000_000_000_000_000)
    return files


def catalogue_of(
    path: Path,
    card: Card,
    pixels: Mapping[str, Mapping[str, int]],
    origin: indexing.Origin = COS,
    folder: str = "/data",
) -> SqliteCatalogue:
    """Write a catalogue of images in a folder, by path, with the pixels of classes, and open it."""
    files = facts_of(pixels, card)
    counted: list[tuple[Frame, Mapping[str, int]]] = [
        (frame, pixels[frame.image]) for frame in frames_of(files, card).frames
    ]
    indexing.write(path, card, folder=folder, origin=origin, counted=counted, files=files, now=TIME)
    return SqliteCatalogue(path)


def generated_catalogue(path: Path, frames: int = 100) -> SqliteCatalogue:
    """Write the catalogue of the generated data set as the images' labels would give it, and open it."""
    return catalogue_of(path, generated.card(), {frame.image: frame.pixels for frame in generated.frames(frames)})
