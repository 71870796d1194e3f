"""A request for a change, and its outcome: what is refused at once, and what fails as a job."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from toolkit.simulator.scale_management.state import Cache, CachedFile, Fileset, FileSystem, Quota, State

Home = Callable[[str], Mapping[str, int] | None]
"""Bucket -> the bytes of its objects by key; None where there is no such bucket."""
FETCHED = 100
"""Files that a gateway node fetches between two looks at its queue."""
_KIB = 1024


def listed(cache: Cache, home: Home) -> Mapping[str, int] | None:
    """Return what the home of a cache has; None where it cannot be reached: only buckets are simulated."""
    return home(cache.bucket) if cache.bucket else None


def state_of(cache: Cache, home: Home) -> str:
    """Return the state of a cache, in AFM's words."""
    if cache.bucket is None:
        return "Unmounted"
    if home(cache.bucket) is None:
        return "Disconnected"
    return "Active" if cache.used else "Inactive"


def queued(cache: Cache, names: Iterable[str]) -> Cache:
    """Return the cache with files in its gateway's queue that are neither cached nor queued yet."""
    present = {*cache.queue, *(name for name, file in cache.files.items() if file.cached)}
    new = tuple(name for name in dict.fromkeys(names) if name not in present)
    return cache.model_copy(update={"queue": cache.queue + new, "used": True})


def advanced(cache: Cache, quota: Quota, home: Home) -> Cache:
    """Return the cache after its gateway has fetched some files of its queue, and evicted what is too much.

    As the real one it evicts late: files that fit below the hard limit are fetched, then the oldest leave until the
    soft limit holds. A file that home does not have, or that does not fit, is dropped from the queue.
    """
    size_of_name = listed(cache, home)
    if not cache.queue or size_of_name is None:
        return cache
    files, used, fetches = dict(cache.files), cache.cached_bytes, cache.fetches
    for name in cache.queue[:FETCHED]:
        size = size_of_name.get(name)
        if size is None or (quota.hard_kib and used + size > quota.hard_kib * _KIB):
            continue
        fetches, used = fetches + 1, used + size
        files[name] = CachedFile(bytes=size, cached=True, fetched=fetches)
    moved = cache.model_copy(update={"files": files, "queue": cache.queue[FETCHED:], "fetches": fetches})
    return within(moved, quota)


def within(cache: Cache, quota: Quota) -> Cache:
    """Return the cache with the oldest files evicted until the soft limit holds, where it evicts by itself."""
    if not (cache.auto_eviction and quota.soft_kib):
        return cache
    excess, gone = cache.cached_bytes - quota.soft_kib * _KIB, []
    oldest = sorted((file.fetched, name) for name, file in cache.files.items() if file.cached)
    for _, name in oldest:
        if excess <= 0:
            break
        excess -= cache.files[name].bytes
        gone.append(name)
    return evicted(cache, gone)


def evicted(cache: Cache, names: Iterable[str]) -> Cache:
    """Return the cache without the blocks of files; their inodes stay."""
    gone = {name: cache.files[name].model_copy(update={"cached": False}) for name in names if name in cache.files}
    return cache.model_copy(update={"files": {**cache.files, **gone}}) if gone else cache


class RefusedError(Exception):
    """A request that becomes no job; the text is the status object's."""

    def __init__(self, text: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        super().__init__(text)
        self.status = status


class FailedError(Exception):
    """A job that fails; the text is a line of its stderr, with the code that clients look for where one is known."""


def invalid(parameter: str) -> RefusedError:
    """Return the refusal of a value."""
    return RefusedError(f"Invalid value in '{parameter}'")


@dataclass(frozen=True)
class Done:
    """A job that succeeds: the state after it, and what it ran and printed."""

    state: State
    commands: tuple[str, ...] = ()
    stdout: tuple[str, ...] = ()


@dataclass(frozen=True)
class Call:
    """A request: the state before it, names from its path, body and query."""

    state: State
    home: Home
    now: str
    names: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def file_system(self) -> FileSystem:
        """The file system of the path."""
        named = self.state.file_systems.get(self.names["fs"])
        if named is None:
            raise invalid("filesystemName")
        return named

    @property
    def fileset(self) -> Fileset:
        """The fileset of the path."""
        named = self.file_system.filesets.get(self.names["fileset"])
        if named is None:
            raise invalid("filesetName")
        return named

    def text(self, key: str, otherwise: str = "") -> str:
        """Return a value of the body that is a text or a number: clients send numbers as either."""
        value = self.body.get(key, otherwise)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise invalid(key)
        return str(value)

    def number(self, key: str, otherwise: int) -> int:
        """Return a value of the body that is a whole number, as a number or as a text."""
        text = self.text(key, str(otherwise))
        if not text.isdigit():
            raise invalid(key)
        return int(text)

    def flag(self, key: str, *, otherwise: bool) -> bool:
        """Return a value of the body that is true or false, also as yes or no."""
        value = str(self.body.get(key, otherwise)).lower()
        if value not in ("true", "false", "yes", "no"):
            raise invalid(key)
        return value in ("true", "yes")

    def with_fileset(self, fileset: Fileset) -> State:
        """Return the state with a new or changed fileset of the path's file system."""
        return self.state.with_file_system(self.file_system.with_fileset(fileset))
