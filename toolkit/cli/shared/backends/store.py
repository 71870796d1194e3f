"""Objects by key, as a state backend stores them: in a folder or, in `bucket.py`, in a bucket."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.files import write_atomically


@dataclass(frozen=True)
class Version:
    """One version that is stored of an object."""

    id: str
    modified: float
    """Seconds since 1970."""
    size: int
    """Bytes."""
    latest: bool = False
    removed: bool = False
    """Whether this is not content, but the note that the object was removed."""


class Store(Protocol):
    """A flat space of keys with slashes, e.g. `.pulumi/stacks/hpc/dev.json`."""

    def read(self, key: str) -> bytes | None:
        """Return the content of an object; None where there is none."""

    def modified(self, key: str) -> float | None:
        """Return when an object was written, in seconds since 1970; None where there is none."""

    def keys(self, prefix: str) -> list[str]:
        """Return all keys that begin with a prefix, sorted."""

    def versions(self, key: str) -> tuple[Version, ...]:
        """Return all that is stored of an object, newest first; nothing where no versions are stored."""

    def read_version(self, key: str, version: str) -> bytes | None:
        """Return the content of an object as it once was; None where that version is gone."""

    def write(self, key: str, content: bytes) -> None:
        """Write an object whole."""

    def remove(self, key: str) -> None:
        """Remove an object; nothing happens where there is none."""

    def where(self, key: str) -> str:
        """Name an object for users, so that they find it."""


@dataclass(frozen=True)
class FolderStore:
    """Files below a folder."""

    folder: Path

    def read(self, key: str) -> bytes | None:
        """Return the content of a file; None where there is none."""
        try:
            return (self.folder / key).read_bytes()
        except FileNotFoundError:
            return None

    def modified(self, key: str) -> float | None:
        """Return when a file was written; None where there is none."""
        try:
            return (self.folder / key).stat().st_mtime
        except FileNotFoundError:
            return None

    def keys(self, prefix: str) -> list[str]:
        """Return the keys of all files that begin with a prefix, sorted."""
        above = (self.folder / prefix).parent if not prefix.endswith("/") else self.folder / prefix
        keys = (path.relative_to(self.folder).as_posix() for path in above.rglob("*") if path.is_file())
        return sorted(key for key in keys if key.startswith(prefix))

    def versions(self, key: str) -> tuple[Version, ...]:  # noqa: ARG002
        """Return nothing: a folder has no earlier versions."""
        return ()

    def read_version(self, key: str, version: str) -> bytes | None:  # noqa: ARG002
        """Return None, as there are no versions."""
        return None

    def write(self, key: str, content: bytes) -> None:
        """Write a file, so that no one reads half of it."""
        write_atomically(self.folder / key, content)

    def remove(self, key: str) -> None:
        """Remove a file, and what the file driver of the engine stores beside it."""
        path = self.folder / key
        path.unlink(missing_ok=True)
        _attributes(path).unlink(missing_ok=True)

    def remove_unreadable_attributes(self, key: str) -> None:
        """Remove the attributes of a file when they are cut; those of a file without any are empty.

        The engine (3.276) writes them in place, so that a kill can leave them empty. It then fails to read the file,
        with the message `EOF`, although the file is whole.
        """
        attributes = _attributes(self.folder / key)
        try:
            json.loads(attributes.read_bytes())
        except FileNotFoundError:
            return
        except ValueError:
            attributes.unlink(missing_ok=True)

    def where(self, key: str) -> str:
        """Return the file's path."""
        return str(self.folder / key)


def _attributes(path: Path) -> Path:
    """Return where the engine's file driver stores checksum and content type of a file."""
    return path.with_name(f"{path.name}.attrs")
