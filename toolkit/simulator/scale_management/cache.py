"""AFM: what a cache fetches from its home, what it evicts, and the state that it is in. Pure functions."""

from collections.abc import Callable, Iterable, Mapping

from toolkit.simulator.scale_management.state import Cache, CachedFile, Quota

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
