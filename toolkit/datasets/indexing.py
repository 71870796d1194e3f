"""From the files of a data set to its catalogue, and whether that still describes them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from core.datasets.card import Card
from core.datasets.catalogue import FILE_TABLE, OBJECT_PLATFORMS, Catalogue, file_name
from toolkit.datasets.frames import FileFacts, Frame, frames_of
from toolkit.datasets.sqlite_catalogue import written

_NS = 10**9
_RECORDS = f"select platform, path, filename, size, mtime from {FILE_TABLE}"  # noqa: S608 - a constant


class Origin(NamedTuple):
    """Where the files of a catalogue are, in the words of its records."""

    platform: str
    """Kind of storage, e.g. NFS, IBM COS or Spectrum Scale."""
    datasource: str
    """Name of the storage's bucket, export or file system."""


def write(
    path: Path,
    card: Card,
    *,
    folder: str,
    origin: Origin,
    counted: Iterable[tuple[Frame, Mapping[str, int]]],
    files: Mapping[str, FileFacts],
    now: datetime,
) -> int:
    """Write the catalogue of frames with the pixels of their classes; return the number of frames.

    `files` has the facts of all files of the frames; `now` is the time that the catalogue is of, and `folder` where
    the files are. Raises CatalogueError where it cannot be written, and what `counted` raises; then nothing is written.
    """
    frames = 0
    numbers = {name: number for number, name in enumerate(sorted(files), start=1)}
    with written(path, card, folder) as writer:
        for frame, pixels in counted:
            frames += 1
            for name in (frame.image, frame.label, *frame.others):
                # Spectrum Discover's key ends in the inode, which hard links share; the place in order is unique.
                key = f"{origin.datasource}{numbers[name]:09d}"
                writer.add(key, _record(name, files[name], origin, now))
                if name == frame.image:
                    writer.tag(key, {**dict.fromkeys(card.cameras[frame.camera], 1), **pixels})
    return frames


def _record(name: str, facts: FileFacts, origin: Origin, now: datetime) -> dict[str, str | int]:
    above = str(PurePosixPath(name).parent)
    in_folder = {"path": "" if above == "." else f"{above}/", "filename": PurePosixPath(name).name}
    as_object = {"path": f"{origin.datasource}/", "filename": name}
    return {
        **(as_object if origin.platform in OBJECT_PLATFORMS else in_folder),
        "platform": origin.platform,
        "datasource": origin.datasource,
        "filetype": PurePosixPath(name).suffix.removeprefix("."),
        "size": facts.size,
        "mtime": timestamp(facts.mtime_ns),
        "operation": "INDEX",
        "ingesttype": "SCAN",
        "inserttime": timestamp(int(now.timestamp() * _NS)),
    }


def timestamp(ns: int) -> str:
    """Return a time as records have it, in milliseconds: 2020-09-25T20:27:37.000Z."""
    whole = datetime.fromtimestamp(ns // _NS, UTC)
    return f"{whole:%Y-%m-%dT%H:%M:%S}.{ns % _NS // 10**6:03d}Z"


@dataclass(frozen=True)
class Changes:
    """Files of frames that differ from the catalogue's records, each in the order of names."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    """Another size or time of the last change."""
    gone: tuple[str, ...]

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self.added or self.changed or self.gone)

    def __str__(self) -> str:
        """Return how many there are, with one of them as an example."""
        kinds = {"new": self.added, "changed": self.changed, "gone": self.gone}
        return ", ".join(f"{len(names)} {kind} (e.g. {names[0]!r})" for kind, names in kinds.items() if names)


def changes(catalogue: Catalogue, card: Card, files: Mapping[str, FileFacts]) -> Changes:
    """Return how the files that `list_files` found now differ from a catalogue of their folder.

    Raises CatalogueError, and FramesError where the files are not frames of the card.
    """
    recorded = {
        file_name(platform, path, name): (size, changed)
        for platform, path, name, size, changed in catalogue.ask(_RECORDS)
    }
    present = {
        name: (str(files[name].size), timestamp(files[name].mtime_ns))
        for frame in frames_of(files, card).frames
        for name in (frame.image, frame.label, *frame.others)
    }
    return Changes(
        added=tuple(sorted(present.keys() - recorded.keys())),
        changed=tuple(sorted(name for name in present.keys() & recorded.keys() if present[name] != recorded[name])),
        gone=tuple(sorted(recorded.keys() - present.keys())),
    )
