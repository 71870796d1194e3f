"""The files of a data set's folder, put together to frames: an image with its label and other companions."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn

from core.datasets.card import LABEL, Card
from core.errors import UserError

_SHOWN = 3
"""Names that a message lists."""


class FramesError(UserError):
    """The files are not those of the card's data set; the message names files and the remedy."""


class FileFacts(NamedTuple):
    """What is known of a file without reading it."""

    size: int
    """Bytes."""
    mtime_ns: int
    """Time of its last change, nanoseconds since 1970."""


@dataclass(frozen=True)
class Frame:
    """One image of one camera with what belongs to it; paths are below the data set's folder, with /."""

    image: str
    label: str
    scene: str
    camera: str
    others: tuple[str, ...]
    """Companions that exist beside the label, e.g. of the kind info."""


@dataclass(frozen=True)
class FolderFrames:
    """The frames of a folder in the order of their images' names, and what is not part of one."""

    frames: tuple[Frame, ...]
    others: tuple[str, ...]


def list_files(folder: Path) -> dict[str, FileFacts]:
    """Return all files below a folder by their path with /; links to folders are not followed.

    Raises FramesError where a folder cannot be read or a name is not UTF-8.
    """
    if not folder.is_dir():
        raise FramesError(f"{str(folder)!r}: is not a folder; name the folder of the data set")
    facts_by_path: dict[str, FileFacts] = {}
    for above, _, names in os.walk(folder, onerror=_refuse):
        for name in names:
            file = os.path.join(above, name)  # noqa: PTH118 - a Path for each of 120,000 files takes a second
            try:
                facts = os.stat(file)  # noqa: PTH116
                path = os.path.relpath(file, folder).replace(os.sep, "/")
                path.encode()
            except OSError as error:
                raise FramesError(f"{file!r}: cannot be read ({error.strerror}); repair or remove it") from None
            except UnicodeEncodeError:
                raise FramesError(f"{file!r}: its name is not UTF-8; rename it") from None
            facts_by_path[path] = FileFacts(facts.st_size, facts.st_mtime_ns)
    return facts_by_path


def _refuse(error: OSError) -> NoReturn:
    raise FramesError(f"{error.filename!r}: cannot be read ({error.strerror}); give yourself the right to")


def frames_of(files: Mapping[str, FileFacts], card: Card) -> FolderFrames:
    """Return the frames of files that `list_files` found.

    Raises FramesError where no file is named as the card's images, an image has no label, or a camera is not the
    card's.
    """
    frames: list[Frame] = []
    unlabelled: list[str] = []
    frame_files: set[str] = set()
    for path in sorted(files):
        name = card.naming.frame(path)
        if name is None:
            continue
        if name.camera not in card.cameras:
            raise FramesError(
                f"{path!r}: {card.name} has no camera {name.camera!r}; known: {', '.join(card.cameras)}; correct the "
                "name of the file, or add it to `cameras` of the card"
            )
        companions = card.naming.companions(path)
        label = companions.pop(LABEL)
        if label not in files:
            unlabelled.append(f"{path!r} (expected: {label!r})")
            continue
        others = tuple(companion for companion in companions.values() if companion in files)
        frames.append(Frame(path, label, name.scene, name.camera, others))
        frame_files.update((path, label, *others))
    if unlabelled:
        more = f"\n  and {len(unlabelled) - _SHOWN} more" if len(unlabelled) > _SHOWN else ""
        raise FramesError(
            f"{len(unlabelled)} images have no label; add the labels, or move the images away:\n  "
            + "\n  ".join(unlabelled[:_SHOWN])
            + more
        )
    if not frames:
        raise FramesError(
            f"no file is called as an image of {card.name} ({card.naming.files['image']}); name the folder that has "
            "them, or another card"
        )
    return FolderFrames(tuple(frames), tuple(path for path in sorted(files) if path not in frame_files))
