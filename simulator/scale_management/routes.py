"""The calls that are simulated: paths, and for those that change something what their bodies may have."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from werkzeug.routing import Map, Rule

from simulator.scale_management import afm, filesets
from simulator.scale_management.calls import Call, Done, RefusedError, invalid

BASE = "/scalemgmt/v2"
AFM_STATE = "/filesystems/<fs>/afm/state"
_FS = "/filesystems/<fs>"
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


CHANGES: Mapping[tuple[str, str], Change] = {
    ("POST", f"{_FS}/filesets"): Change(
        filesets.create,
        ("filesetName",),
        (
            *("path", "inodeSpace", "owner", "permissions", "permissionChangeMode", "comment", "maxNumInodes"),
            "allocInodes",
        ),
        tuning=True,
    ),
    ("DELETE", f"{_FS}/filesets/<fileset>"): Change(filesets.delete),
    ("POST", f"{_FS}/filesets/cos"): Change(
        afm.create_cache,
        ("filesetName", "endpoint", "bucket"),
        (
            *("mode", "useObjectFs", "useSslCertVerify", "verifyKeys", "makeActive", "tmpDir", "uid", "gid"),
            *("permission", "dir"),
        ),
    ),
    ("POST", f"{_FS}/filesets/<fileset>/cos/download"): Change(
        afm.download,
        ("path",),
        (
            *("objectList", "all", "useMetadata", "useData", "useNoSubdir", "prefix", "uid", "gid"),
            "permission",
        ),
    ),
    ("PUT", "/bucket/keys"): Change(afm.set_keys, ("bucket", "accessKey", "secretKey", "server")),
    ("POST", "/nodes/afm/mapping"): Change(afm.create_map, ("mapName", "exportMap"), ("noServerResolution",)),
    ("DELETE", "/nodes/afm/mapping/<mapping>"): Change(afm.delete_map),
    ("POST", f"{_FS}/quotas"): Change(
        filesets.set_quota, ("operationType", "quotaType", "objectName"), ("blockSoftLimit", "blockHardLimit")
    ),
}
READS = (
    *("/cluster", "/nodes", "/filesystems", _FS, f"{_FS}/filesets", f"{_FS}/quotas", AFM_STATE),
    *("/jobs", "/jobs/<int:job>"),
)
CALLS = (*(("GET", path) for path in READS), *CHANGES)
ROUTES = Map([Rule(f"{BASE}{path}", endpoint=path, methods=[method]) for method, path in CALLS])
