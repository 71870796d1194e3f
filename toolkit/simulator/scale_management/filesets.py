"""Changes of filesets: create, change, delete, link; quotas. Codes are those that IBM's CSI driver looks for."""

import re
from pathlib import PurePosixPath
from typing import Any

from toolkit.simulator.scale_management.calls import Call, Done, FailedError, RefusedError, invalid, within
from toolkit.simulator.scale_management.state import ROOT_FILESET, Cache, Fileset, FileSystem, Quota

EXISTS, PATH_EXISTS = "EFSSP1102C", "EFSSG0762C"
NO_DIRECTORY, NO_LINK, NO_FILESET, ABORTED = "EFSSG0264C", "EFSSG2006C", "EFSSG0072C", "EFSSG0632C"
MODES = {
    **{mode: mode for mode in ("ro", "iw", "sw", "lu")},
    "read-only": "ro",
    "independent-writer": "iw",
    "single-writer": "sw",
    "local-updates": "lu",
}
"""How modes are spelled, by IBM's CSI driver and by Fusion, and what they are."""
_NAME = re.compile(r"[A-Za-z_][\w.-]{0,254}")
_SIZE = re.compile(r"(\d+)([KMGT]?)")
_KIB = {"": 1 / 1024, "K": 1, "M": 1024, "G": 1024**2, "T": 1024**3}
_AFM = "afm"
_OWN = {"afmMode", "afmTarget", "afmEnableAutoEviction"}


def create(call: Call) -> Done:
    """Create a fileset; with a path it is linked at once, with a target it is a cache."""
    return made(call, _cache(call) if "afmTarget" in call.body else None, call.text("path"))


def made(call: Call, cache: Cache | None, path: str) -> Done:
    """Create a fileset of the body's name."""
    name, file_system = call.text("filesetName"), call.file_system
    if not _NAME.fullmatch(name):
        raise invalid("filesetName")
    if name in file_system.filesets:
        raise FailedError(f"{EXISTS} Fileset {name} already exists in file system {file_system.name}.")
    parent = call.text("inodeSpace", "new" if cache else ROOT_FILESET)
    if parent != "new" and (cache or parent not in file_system.filesets):
        raise invalid("inodeSpace")
    fileset = Fileset(
        name=name,
        id=file_system.next_id,
        owner=call.text("owner", "0:0"),
        permissions=call.text("permissions", "755"),
        independent=parent == "new",
        max_inodes=call.number("maxNumInodes", 100_000),
        comment=call.text("comment"),
        created=call.now,
        cache=cache,
    )
    commands = [f"mmcrfileset '{file_system.name}' '{name}'"]
    if path:
        fileset = fileset.model_copy(update={"path": _junction(file_system, path)})
        commands.append(f"mmlinkfileset '{file_system.name}' '{name}' -J '{path}'")
    grown = file_system.with_fileset(fileset).model_copy(update={"next_id": file_system.next_id + 1})
    return Done(call.state.with_file_system(grown), tuple(commands))


def change(call: Call) -> Done:
    """Change what the body names; the mode of a cache only while it is not linked, and never that of local updates."""
    fileset, body = call.fileset, call.body
    name = call.text("newFilesetName", fileset.name)
    if name != fileset.name and name in call.file_system.filesets:
        raise FailedError(f"{EXISTS} Fileset {name} already exists in file system {call.file_system.name}.")
    update: dict[str, Any] = {
        "name": name,
        "owner": call.text("owner", fileset.owner),
        "permissions": call.text("permissions", fileset.permissions),
        "comment": call.text("comment", fileset.comment),
        "max_inodes": call.number("maxNumInodes", fileset.max_inodes),
    }
    if any(key.startswith(_AFM) for key in body):
        update["cache"] = _changed(call, fileset)
    file_system = call.file_system.without_fileset(fileset.name).with_fileset(fileset.model_copy(update=update))
    return Done(call.state.with_file_system(file_system), (f"mmchfileset '{file_system.name}' '{fileset.name}'",))


def delete(call: Call) -> Done:
    """Delete a fileset; one that is linked only with force_unlink."""
    fileset = call.fileset
    if fileset.path and call.query.get("force_unlink", "").lower() != "true":
        raise FailedError(f"{ABORTED} The command was aborted: fileset {fileset.name} is linked at {fileset.path}.")
    file_system = call.file_system.without_fileset(fileset.name)
    return Done(call.state.with_file_system(file_system), (f"mmdelfileset '{file_system.name}' '{fileset.name}' -f",))


def link(call: Call) -> Done:
    """Link a fileset at a path."""
    fileset, path = call.fileset, _junction(call.file_system, call.text("path"))
    if fileset.path:
        raise FailedError(f"{PATH_EXISTS} Fileset {fileset.name} is linked at {fileset.path} already.")
    linked = fileset.model_copy(update={"path": path})
    return Done(call.with_fileset(linked), (f"mmlinkfileset '{call.file_system.name}' '{fileset.name}' -J '{path}'",))


def unlink(call: Call) -> Done:
    """Unlink a fileset."""
    fileset = call.fileset
    if not fileset.path:
        raise FailedError(f"{NO_LINK} Fileset {fileset.name} is not linked.")
    command = f"mmunlinkfileset '{call.file_system.name}' '{fileset.name}'"
    return Done(call.with_fileset(fileset.model_copy(update={"path": ""})), (command,))


def set_quota(call: Call) -> Done:
    """Set the limits of a fileset; a cache evicts at once what is above the soft one."""
    if call.text("operationType") != "setQuota" or call.text("quotaType") != "fileset":
        raise RefusedError("only operationType setQuota of quotaType fileset is simulated")
    name = call.text("objectName")
    fileset = call.file_system.filesets.get(name)
    if fileset is None:
        raise FailedError(f"{NO_FILESET} Fileset {name} was not found in file system {call.file_system.name}.")
    soft = _size(call, "blockSoftLimit", fileset.quota.soft_kib)
    hard = _size(call, "blockHardLimit", fileset.quota.hard_kib)
    if soft and hard and soft > hard:
        raise invalid("blockSoftLimit")
    quota = Quota(soft_kib=soft, hard_kib=hard)
    cache = fileset.cache and within(fileset.cache, quota)
    changed = fileset.model_copy(update={"quota": quota, "cache": cache})
    command = f"mmsetquota '{call.file_system.name}:{name}' --block {soft}K:{hard}K"
    return Done(call.with_fileset(changed), (command,))


def _size(call: Call, key: str, otherwise: int) -> int:
    """Return a limit in KiB: given in bytes, or with a suffix, as mmsetquota takes it."""
    if key not in call.body:
        return otherwise
    match = _SIZE.fullmatch(call.text(key).upper())
    if match is None:
        raise invalid(key)
    return int(int(match[1]) * _KIB[match[2]])


def _junction(file_system: FileSystem, path: str) -> str:
    """Return a path at which nothing is yet, in a directory that is there; raise FailedError for another one."""
    junction = PurePosixPath(path)
    if (
        not junction.is_relative_to(file_system.mount_point)
        or path == file_system.mount_point
        or ".." in junction.parts
    ):
        raise invalid("path")
    links = {fileset.path for fileset in file_system.filesets.values()}
    relative = str(junction.relative_to(file_system.mount_point))
    if str(junction) in links or relative in file_system.directories:
        raise FailedError(f"{PATH_EXISTS} The path {path} exists.")
    above = str(junction.parent)
    below_mount = "" if above == file_system.mount_point else above.removeprefix(f"{file_system.mount_point}/")
    if below_mount and below_mount not in file_system.directories and above not in links:
        raise FailedError(f"{NO_DIRECTORY} The directory {above} does not exist.")
    return str(junction)


def _cache(call: Call) -> Cache:
    return Cache(
        mode=_mode(call, "iw"),
        target=call.text("afmTarget"),
        attributes={key: value for key, value in call.body.items() if key.startswith(_AFM) and key not in _OWN},
        auto_eviction=call.flag("afmEnableAutoEviction", otherwise=True),
    )


def _changed(call: Call, fileset: Fileset) -> Cache:
    cache = fileset.cache
    if cache is None or "afmTarget" in call.body:
        raise RefusedError("a fileset is a cache, and of one target, from its creation on")
    mode = _mode(call, cache.mode)
    before, after = MODES[cache.mode], MODES[mode]
    if before != after:
        if fileset.path:
            raise FailedError(f"The mode of fileset {fileset.name} changes only while it is not linked.")
        if before == "lu" or (cache.queue and before in ("sw", "iw")):
            raise FailedError(f"The mode {cache.mode} of fileset {fileset.name} does not change now.")
    further = {key: value for key, value in call.body.items() if key.startswith(_AFM) and key not in _OWN}
    changed = cache.model_copy(
        update={
            "mode": mode,
            "attributes": {**cache.attributes, **further},
            "auto_eviction": call.flag("afmEnableAutoEviction", otherwise=cache.auto_eviction),
        }
    )
    return within(changed, fileset.quota)


def _mode(call: Call, otherwise: str) -> str:
    mode = call.text("afmMode", otherwise)
    if mode.lower() not in MODES:
        raise invalid("afmMode")
    return mode.lower()


def create_directory(call: Call) -> Done:
    """Create a directory."""
    place = call.names["place"].strip("/")
    directories = call.file_system.directories
    links = {fileset.path for fileset in call.file_system.filesets.values()}
    mount = call.file_system.mount_point
    if place in directories or f"{mount}/{place}" in links:
        raise FailedError(f"{PATH_EXISTS} The directory {place} exists.")
    above = place.rpartition("/")[0]
    if above and above not in directories and f"{mount}/{above}" not in links:
        raise FailedError(f"{NO_DIRECTORY} The directory {above} does not exist.")
    owner = f"{call.text('uid', call.text('user', '0'))}:{call.text('gid', call.text('group', '0'))}"
    changed = call.file_system.model_copy(update={"directories": {**directories, place: owner}})
    return Done(call.state.with_file_system(changed), (f"mkdir '{mount}/{place}'",))


def stat_directory(call: Call) -> Done:
    """Show a directory; it is a job, though nothing changes."""
    place = call.names["place"].strip("/")
    shown = f"File: {call.file_system.mount_point}/{place} directory uid:gid {owner_of(call)}"
    return Done(call.state, (f"stat '{place}'",), (shown,))


def delete_directory(call: Call) -> Done:
    """Delete a directory; with `safe` only an empty one."""
    place, directories = call.names["place"].strip("/"), call.file_system.directories
    owner_of(call)
    below = [path for path in directories if path.startswith(f"{place}/")]
    if below and call.query.get("safe", "").lower() == "true":
        raise FailedError(f"The directory {place} is not empty.")
    left = {path: owner for path, owner in directories.items() if path not in (place, *below)}
    changed = call.file_system.model_copy(update={"directories": left})
    return Done(call.state.with_file_system(changed), (f"rm -r '{place}'",))


def owner_of(call: Call) -> str:
    """Return uid:gid of a directory or of a linked fileset; raise FailedError where there is none."""
    place, file_system = call.names["place"].strip("/"), call.file_system
    linked = {fileset.path: fileset.owner for fileset in file_system.filesets.values() if fileset.path}
    owner = file_system.directories.get(place) or linked.get(f"{file_system.mount_point}/{place}".rstrip("/"))
    if owner is None:
        raise FailedError(f"{NO_DIRECTORY} The directory {place} does not exist.")
    return owner
