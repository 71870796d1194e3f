"""The calls that are simulated: paths, and for those that change something what their bodies may have."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from werkzeug.routing import Map, Rule

from toolkit.simulator.scale_management import afm, directories, filesets
from toolkit.simulator.scale_management.calls import Call, Done, RefusedError, invalid

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
        afm.create_cache,
        ("filesetName", "endpoint", "bucket"),
        (
            "mode",
            "useObjectFs",
            "useSslCertVerify",
            "verifyKeys",
            "makeActive",
            "tmpDir",
            "uid",
            "gid",
            "permission",
            "dir",
        ),
    ),
    ("POST", f"{_FILESET}/cos/download"): Change(
        afm.download, ("path",), (*_OBJECTS, "useData", "useNoSubdir", "prefix", "uid", "gid", "permission")
    ),
    ("POST", f"{_FILESET}/cos/evict"): Change(afm.evict, ("path",), _OBJECTS),
    ("PUT", "/bucket/keys"): Change(afm.set_keys, ("bucket", "accessKey", "secretKey", "server")),
    ("DELETE", "/bucket/keys/<bucket>"): Change(afm.delete_keys),
    ("POST", "/nodes/afm/mapping"): Change(afm.create_map, ("mapName", "exportMap"), ("noServerResolution",)),
    ("DELETE", "/nodes/afm/mapping/<mapping>"): Change(afm.delete_map),
    ("POST", f"{_FS}/quotas"): Change(
        filesets.set_quota, ("operationType", "quotaType", "objectName"), ("blockSoftLimit", "blockHardLimit")
    ),
    ("POST", f"{_FS}/directory/<path:place>"): Change(directories.create_directory, (), _OWNER),
    ("GET", f"{_FS}/directory/<path:place>"): Change(directories.stat_directory),
    ("DELETE", f"{_FS}/directory/<path:place>"): Change(directories.delete_directory),
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
