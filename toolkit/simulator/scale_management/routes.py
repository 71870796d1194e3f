"""The calls that are simulated: paths, and for those that change something what their bodies may have."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from werkzeug.routing import Map, Rule

from toolkit.simulator.scale_management import filesets
from toolkit.simulator.scale_management.calls import (
    Call,
    Done,
    FailedError,
    RefusedError,
    evicted,
    invalid,
    listed,
    queued,
)
from toolkit.simulator.scale_management.state import Cache, Keys


def set_keys(call: Call) -> Done:
    """Set the keys of a bucket at a server."""
    bucket, server = call.text("bucket"), call.text("server")
    keys = Keys(access=call.text("accessKey"), secret=call.text("secretKey"))
    all_keys = {**call.state.keys, f"{bucket}:{server}": keys}
    return Done(
        call.state.model_copy(update={"keys": all_keys}), (f"mmafmcoskeys '{bucket}:{server}' set '***' '***'",)
    )


def delete_keys(call: Call) -> Done:
    """Delete the keys of a bucket, or of `bucket:server`."""
    name = call.names["bucket"]
    left = {key: pair for key, pair in call.state.keys.items() if key != name and key.partition(":")[0] != name}
    if len(left) == len(call.state.keys):
        raise invalid("bucketName")
    return Done(call.state.model_copy(update={"keys": left}), (f"mmafmcoskeys '{name}' delete",))


def create_map(call: Call) -> Done:
    """Create a map of a home's servers to gateway nodes."""
    name, pairs = call.text("mapName"), call.body.get("exportMap")
    if not isinstance(pairs, list) or not pairs or not all(isinstance(pair, str) and "/" in pair for pair in pairs):
        raise invalid("exportMap")
    if name in call.state.maps:
        raise FailedError(f"{filesets.EXISTS} Mapping {name} already exists.")
    maps = {**call.state.maps, name: tuple(pairs)}
    return Done(call.state.model_copy(update={"maps": maps}), (f"mmafmconfig add '{name}'",))


def delete_map(call: Call) -> Done:
    """Delete a map."""
    name = call.names["mapping"]
    if name not in call.state.maps:
        raise invalid("mappingName")
    left = {key: pairs for key, pairs in call.state.maps.items() if key != name}
    return Done(call.state.model_copy(update={"maps": left}), (f"mmafmconfig delete '{name}'",))


def create_cache(call: Call) -> Done:
    """Create a fileset that caches a bucket, and link it; the bucket's keys must be there."""
    bucket, endpoint = call.text("bucket"), call.text("endpoint")
    server = urlsplit(endpoint).hostname
    mode = call.text("mode", "iw").lower()
    if server is None:
        raise invalid("endpoint")
    if mode not in filesets.MODES:
        raise invalid("mode")
    if call.flag("verifyKeys", otherwise=False) and f"{bucket}:{server}" not in call.state.keys:
        raise FailedError(f"No keys are set for bucket {bucket} of server {server}.")
    cache = Cache(mode=mode, target=f"{endpoint}/{bucket}", bucket=bucket)
    name = call.text("filesetName")
    done = filesets.made(call, cache, call.text("dir") or f"{call.file_system.mount_point}/{name}")
    return Done(done.state, (f"mmafmcosconfig '{call.file_system.name}' '{name}' --bucket '{bucket}'",))


def download(call: Call) -> Done:
    """Queue objects at the gateway node: all of the bucket, or those of a list."""
    cache = _of_bucket(call)
    size_of_name = listed(cache, call.home)
    if size_of_name is None:
        raise FailedError(f"The bucket {cache.bucket} of {cache.target} cannot be reached.")
    names = sorted(size_of_name) if call.flag("all", otherwise=False) else _objects(call)
    unknown = [name for name in names if name not in size_of_name]
    after = queued(cache, (name for name in names if name in size_of_name))
    added = len(after.queue) - len(cache.queue)
    size = sum(size_of_name.get(name, 0) for name in names)
    counts = f"{added} {len(unknown)} {len(names) - len(unknown) - added} {size}"
    state = call.with_fileset(call.fileset.model_copy(update={"cache": after}))
    command = f"mmafmcosctl '{call.file_system.name}' '{call.fileset.name}' '{call.text('path')}' download"
    printed = ("Queued Failed AlreadyCached TotalData", counts, "Object download successfully queued at the gateway.")
    return Done(state, (command,), printed)


def evict(call: Call) -> Done:
    """Evict the blocks of objects: of all, or of a list."""
    cache = _of_bucket(call)
    names = list(cache.files) if call.flag("all", otherwise=False) else _objects(call)
    changed = call.fileset.model_copy(update={"cache": evicted(cache, names)})
    command = f"mmafmcosctl '{call.file_system.name}' '{call.fileset.name}' '{call.text('path')}' evict"
    return Done(call.with_fileset(changed), (command,))


def _of_bucket(call: Call) -> Cache:
    cache = call.fileset.cache
    if cache is None or cache.bucket is None:
        raise RefusedError(f"fileset {call.fileset.name} is not a cache of a bucket")
    return cache


def _objects(call: Call) -> list[str]:
    names = call.body.get("objectList")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise invalid("objectList")
    return names


BASE = "/scalemgmt/v2"
AFM_STATE = "/filesystems/<fs>/afm/state"
_FS = "/filesystems/<fs>"
_FILESET = f"{_FS}/filesets/<fileset>"
_NAME = re.compile(r"<(?:\w+:)?(\w+)>")
_TUNING = re.compile(r"afm[A-Z]\w*")


@dataclass(frozen=True)
class Change:
    """A call that becomes a job: what does it, and the keys that its body must and may have."""

    act: Callable[[Call], Done]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    tuning: bool = False
    """Whether it takes attributes of AFM."""

    def check(self, body: Mapping[str, Any]) -> None:
        """Raise RefusedError for a body that lacks a key, or has one that the call does not know."""
        for key in body:
            if key not in self.needs + self.takes and not (self.tuning and _TUNING.fullmatch(key)):
                raise RefusedError(f"Unrecognized field '{key}'")
        for key in self.needs:
            if key not in body:
                raise invalid(key)


_OWNED = ("owner", "permissions", "permissionChangeMode", "comment", "maxNumInodes", "allocInodes")
_RIGHTS = ("uid", "gid", "permission")
_OBJECTS = ("objectList", "all", "useMetadata")
_OWNER = ("uid", "gid", "user", "group", "permissions")
CHANGES: Mapping[tuple[str, str], Change] = {
    ("POST", f"{_FS}/filesets"): Change(
        filesets.create, ("filesetName",), ("path", "inodeSpace", *_OWNED), tuning=True
    ),
    ("PUT", _FILESET): Change(filesets.change, (), ("newFilesetName", *_OWNED), tuning=True),
    ("DELETE", _FILESET): Change(filesets.delete),
    ("POST", f"{_FILESET}/link"): Change(filesets.link, ("path",)),
    ("DELETE", f"{_FILESET}/link"): Change(filesets.unlink),
    ("POST", f"{_FS}/filesets/cos"): Change(
        create_cache,
        ("filesetName", "endpoint", "bucket"),
        ("mode", "useObjectFs", "useSslCertVerify", "verifyKeys", "makeActive", "tmpDir", "dir", *_RIGHTS),
    ),
    ("POST", f"{_FILESET}/cos/download"): Change(
        download, ("path",), (*_OBJECTS, "useData", "useNoSubdir", "prefix", *_RIGHTS)
    ),
    ("POST", f"{_FILESET}/cos/evict"): Change(evict, ("path",), _OBJECTS),
    ("PUT", "/bucket/keys"): Change(set_keys, ("bucket", "accessKey", "secretKey", "server")),
    ("DELETE", "/bucket/keys/<bucket>"): Change(delete_keys),
    ("POST", "/nodes/afm/mapping"): Change(create_map, ("mapName", "exportMap"), ("noServerResolution",)),
    ("DELETE", "/nodes/afm/mapping/<mapping>"): Change(delete_map),
    ("POST", f"{_FS}/quotas"): Change(
        filesets.set_quota, ("operationType", "quotaType", "objectName"), ("blockSoftLimit", "blockHardLimit")
    ),
    ("POST", f"{_FS}/directory/<path:place>"): Change(filesets.create_directory, (), _OWNER),
    ("GET", f"{_FS}/directory/<path:place>"): Change(filesets.stat_directory),
    ("DELETE", f"{_FS}/directory/<path:place>"): Change(filesets.delete_directory),
}
READS = (
    *("/info", "/cluster", "/config", "/nodes", "/filesystems", _FS, f"{_FS}/filesets", _FILESET),
    *(f"{_FS}/quotas", AFM_STATE, f"{_FS}/owner/<path:place>", "/jobs", "/jobs/<int:job>"),
)
CALLS = (*(("GET", path) for path in READS), *CHANGES)
ROUTES = Map([Rule(f"{BASE}{path}", endpoint=path, methods=[method]) for method, path in CALLS])


def paths() -> dict[str, list[str]]:
    """Return the methods of each path, with names in braces, as `info` lists them."""
    methods_of_path: dict[str, list[str]] = {}
    for method, path in CALLS:
        methods_of_path.setdefault(BASE + _NAME.sub(r"{\1}", path), []).append(method)
    return methods_of_path
