"""What a simulated Storage Scale cluster has: file systems with filesets, keys, maps and jobs; and its file on disk."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Self

from pydantic import Field

from core.files import write_atomically
from core.model import Model

ROOT_FILESET = "root"


def file_system_uid(name: str) -> str:
    """Return the UID of a simulated file system, which comes from its name."""
    digest = hashlib.sha256(name.encode()).hexdigest().upper()
    return f"{digest[:8]}:{digest[8:16]}"


class CachedFile(Model):
    """A file of a cache: its bytes at home, whether all its blocks are in the cache, and when they were fetched."""

    bytes: int
    cached: bool
    fetched: int = Field(default=0, description="order among the cache's fetches; the smallest is evicted first")


class Cache(Model):
    """What makes a fileset a cache of AFM."""

    mode: str = Field(description="as it was given: ro, iw, sw, lu, or in words")
    target: str
    bucket: str | None = Field(default=None, description="of the simulated object store; None: another home")
    attributes: dict[str, Any] = Field(
        default_factory=dict, description="further attributes, e.g. afmPrefetchThreshold"
    )
    auto_eviction: bool = True
    used: bool = False
    files: dict[str, CachedFile] = Field(default_factory=dict)
    queue: tuple[str, ...] = Field(default=(), description="files that the gateway node is to fetch, in order")
    fetches: int = 0

    @property
    def cached_bytes(self) -> int:
        """Bytes that the cached files take."""
        return sum(file.bytes for file in self.files.values() if file.cached)


class Quota(Model):
    """Limits of a fileset's blocks; 0: none."""

    soft_kib: int = 0
    hard_kib: int = 0


class Fileset(Model):
    """A fileset; `path` is empty while it is not linked."""

    name: str
    id: int
    path: str = ""
    owner: str = "0:0"
    permissions: str = "755"
    independent: bool = True
    max_inodes: int = 100_000
    comment: str = ""
    created: str = ""
    quota: Quota = Quota()
    cache: Cache | None = None


class FileSystem(Model):
    """A file system that every node of its cluster has mounted; filesets by name, directories relative to its root."""

    name: str
    mount_point: str
    filesets: dict[str, Fileset]
    directories: dict[str, str] = Field(default_factory=dict, description="path -> uid:gid")
    next_id: int = 1

    @property
    def uuid(self) -> str:
        """Its UID."""
        return file_system_uid(self.name)

    def with_fileset(self, fileset: Fileset) -> Self:
        """Return it with a new or changed fileset."""
        return self.model_copy(update={"filesets": {**self.filesets, fileset.name: fileset}})

    def without_fileset(self, name: str) -> Self:
        """Return it without a fileset."""
        return self.model_copy(
            update={"filesets": {key: fileset for key, fileset in self.filesets.items() if key != name}}
        )


class Keys(Model):
    """Keys of a bucket at a server."""

    access: str = Field(repr=False)
    secret: str = Field(repr=False)


class Job(Model):
    """A change: what was requested, what came of it, and how often it is still RUNNING when a client polls it."""

    id: int
    method: str
    url: str
    data: dict[str, Any] = Field(description="the body, with all that is in it", repr=False)
    submitted: str
    looks: int
    commands: tuple[str, ...] = ()
    stdout: tuple[str, ...] = ()
    stderr: tuple[str, ...] = ()

    @property
    def running(self) -> bool:
        """Whether it is not finished for a client that asks now."""
        return self.looks > 0


class State(Model):
    """All of it."""

    cluster_id: int
    cluster_name: str
    file_systems: dict[str, FileSystem]
    keys: dict[str, Keys] = Field(default_factory=dict, description="by bucket:server")
    maps: dict[str, tuple[str, ...]] = Field(default_factory=dict, description="map -> server/gateway, ..")
    jobs: dict[int, Job] = Field(default_factory=dict)
    next_job: int = 2_000_000_000_001

    def with_file_system(self, file_system: FileSystem) -> Self:
        """Return it with a changed file system."""
        return self.model_copy(update={"file_systems": {**self.file_systems, file_system.name: file_system}})

    def with_job(self, job: Job, most: int) -> Self:
        """Return it with a new or changed job, and at most so many jobs, the newest."""
        jobs = {**self.jobs, job.id: job}
        return self.model_copy(update={"jobs": {key: jobs[key] for key in sorted(jobs)[-most:]}})


def initial(cluster_id: str, file_systems: tuple[str, ...]) -> State:
    """Return a cluster with file systems that have nothing but their root filesets."""
    return State(cluster_id=int(cluster_id), cluster_name="sim-storage", file_systems=dict(map(_empty, file_systems)))


def _empty(name: str) -> tuple[str, FileSystem]:
    mount = f"/{name}"
    root = Fileset(name=ROOT_FILESET, id=0, path=mount, comment="root fileset")
    return name, FileSystem(name=name, mount_point=mount, filesets={ROOT_FILESET: root})


@dataclass
class Store:
    """The state in its file: read at the start, replaced in one step by each change that is acknowledged."""

    file: Path
    start: State
    _lock: Lock = field(default_factory=Lock, repr=False)
    _state: State | None = field(default=None, repr=False)

    @property
    def state(self) -> State:
        """What there is now."""
        with self._lock:
            return self._read()

    def change(self, act: Callable[[State], State]) -> State:
        """Apply a function to the state and return its result, once that is on disk; if it raises, nothing changes."""
        with self._lock:
            before = self._read()
            after = act(before)
            if after is not before:
                write_atomically(self.file, after.model_dump_json())
                self._state = after
            return after

    def _read(self) -> State:
        if self._state is None:
            try:
                stored = State.model_validate_json(self.file.read_text())
            except FileNotFoundError:
                stored = self.start
            self._state = _updated(stored, self.start)
        return self._state


def _updated(stored: State, start: State) -> State:
    """Return the state of before for a cluster that may have more file systems now, or another id."""
    missing: Mapping[str, FileSystem] = {
        name: file_system for name, file_system in start.file_systems.items() if name not in stored.file_systems
    }
    update = {"cluster_id": start.cluster_id, "file_systems": {**stored.file_systems, **missing}}
    return stored.model_copy(update=update)
