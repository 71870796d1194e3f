"""The buckets of a simulated object store that does not run: they can be read, as a folder can."""

from collections.abc import Mapping
from dataclasses import dataclass

from toolkit.cli.shared.backends.store import Version
from toolkit.cli.shared.errors import Problem
from toolkit.simulator.object_store.files import Files, Kept


@dataclass(frozen=True)
class StoppedStore:
    """One bucket, from the files of the store."""

    files: Files
    bucket: str
    cluster: str
    """Name of the simulated cluster whose store it is."""

    def read(self, key: str) -> bytes | None:
        """Return the content of an object; None where there is none."""
        latest = self._latest().get(key)
        return latest.content() if latest else None

    def modified(self, key: str) -> float | None:
        """Return when an object was written; None where there is none."""
        latest = self._latest().get(key)
        return latest.version.written if latest else None

    def keys(self, prefix: str) -> list[str]:
        """Return all keys that begin with a prefix, sorted."""
        return sorted(key for key in self._latest() if key.startswith(prefix))

    def versions(self, key: str) -> tuple[Version, ...]:
        """Return all that is stored of an object, newest first."""
        kept = self._all(key)
        return tuple(
            Version(
                id=entry.version.id,
                modified=entry.version.written,
                size=entry.size,
                latest=entry is kept[-1],
                removed=entry.version.deleted,
            )
            for entry in reversed(kept)
        )

    def read_version(self, key: str, version: str) -> bytes | None:
        """Return the content of an object as it once was; None where that version is gone."""
        return next((kept.content() for kept in self._all(key) if kept.version.id == version), None)

    def write(self, key: str, content: bytes) -> None:  # noqa: ARG002 - it writes nothing
        """Raise Problem: only the running store writes."""
        raise self._stopped(key)

    def remove(self, key: str) -> None:
        """Raise Problem: only the running store removes."""
        raise self._stopped(key)

    def where(self, key: str) -> str:
        """Name an object for users."""
        return f"s3://{self.bucket}/{key} of the simulated object store of cluster {self.cluster}"

    def _latest(self) -> Mapping[str, Kept]:
        return self.files.latest(self.bucket)

    def _all(self, key: str) -> list[Kept]:
        return next((versions for versions in self.files.versions(self.bucket) if versions[0].version.key == key), [])

    def _stopped(self, key: str) -> Problem:
        return Problem(
            f"{self.where(key)} cannot be changed: the store does not run",
            f"`./hpc sim up --name {self.cluster}` starts it.",
        )
