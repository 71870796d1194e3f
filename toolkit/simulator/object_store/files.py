"""Objects of the simulated store on disk: a file for each version, written in one piece before it is acknowledged.

<root>/<bucket>/settings/<name>                 the bucket's last setting of versioning, encryption, ...
<root>/<bucket>/objects/<digest of the key>/<order>-<version>    a line of JSON (`Version`), then the content
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from core.files import write_atomically

_SETTINGS, _OBJECTS = "settings", "objects"


@dataclass(frozen=True)
class Version:
    """One version of an object, or the mark that it was deleted."""

    key: str
    id: str
    order: int
    written: float
    """Seconds since 1970."""
    deleted: bool = False
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """What S3 returns of it beside its content: ETag, encryption, metadata, checksums."""


@dataclass(frozen=True)
class Kept:
    """A version on disk: its content begins at `offset` of the file."""

    version: Version
    file: Path
    offset: int

    @property
    def size(self) -> int:
        """Bytes of the content."""
        return self.file.stat().st_size - self.offset

    def content(self) -> bytes:
        """Return the content."""
        with self.file.open("rb") as source:
            source.seek(self.offset)
            return source.read()


@dataclass(frozen=True)
class Files:
    """All buckets below a folder."""

    root: Path

    def buckets(self) -> list[str]:
        """Return the names of the buckets."""
        return sorted(path.parent.name for path in self.root.glob(f"*/{_SETTINGS}"))

    def settings(self, bucket: str) -> dict[str, bytes]:
        """Return the settings of a bucket, by name."""
        folder = self.root / bucket / _SETTINGS
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if not path.name.startswith(".")}

    def set(self, bucket: str, name: str, content: bytes) -> None:
        """Store a setting of a bucket."""
        write_atomically(self.root / bucket / _SETTINGS / name, content)

    def unset(self, bucket: str, name: str) -> None:
        """Forget it."""
        (self.root / bucket / _SETTINGS / name).unlink(missing_ok=True)

    def drop(self, bucket: str) -> None:
        """Remove a bucket with all that is in it: in one step out of sight, then from the disk."""
        with tempfile.TemporaryDirectory(prefix=".", dir=self.root) as gone:
            (self.root / bucket).replace(Path(gone) / bucket)
            shutil.rmtree(Path(gone) / bucket)

    def write(self, bucket: str, version: Version, content: bytes) -> Kept:
        """Store a version."""
        head = json.dumps(asdict(version)).encode() + b"\n"
        file = self._folder(bucket, version.key) / f"{version.order:020d}-{version.id}"
        write_atomically(file, head + content)
        return Kept(version, file, len(head))

    def versions(self, bucket: str) -> Iterator[list[Kept]]:
        """Yield the versions of each object, oldest first."""
        for folder in sorted((self.root / bucket / _OBJECTS).glob("*/")):
            stored = [_read(folder / name) for name in sorted(os.listdir(folder)) if not name.startswith(".")]  # noqa: PTH208 - names alone sort faster
            if stored:
                yield stored

    def latest(self, bucket: str) -> dict[str, Kept]:
        """Return the objects that are there, by their keys."""
        last = (versions[-1] for versions in self.versions(bucket))
        return {kept.version.key: kept for kept in last if not kept.version.deleted}

    def _folder(self, bucket: str, key: str) -> Path:
        return self.root / bucket / _OBJECTS / hashlib.sha256(key.encode()).hexdigest()[:32]


def _read(file: Path) -> Kept:
    with file.open("rb") as source:
        head = source.readline()
    return Kept(Version(**json.loads(head)), file, len(head))
