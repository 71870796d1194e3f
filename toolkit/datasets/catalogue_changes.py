"""Whether a catalogue still describes the files of its folder."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.datasets.card import Card
from core.datasets.catalogue import FILE_TABLE, Catalogue, file_name
from toolkit.datasets.frames import FileFacts, frames_of
from toolkit.datasets.indexing import timestamp

_RECORDS = f"select platform, path, filename, size, mtime from {FILE_TABLE}"  # noqa: S608 - a constant


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
