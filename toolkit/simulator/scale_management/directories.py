"""Directories of a file system: made, shown, deleted; who owns one."""

from toolkit.simulator.scale_management import filesets
from toolkit.simulator.scale_management.calls import Call, Done, FailedError


def create_directory(call: Call) -> Done:
    """Create a directory."""
    place = call.names["place"].strip("/")
    directories = call.file_system.directories
    links = {fileset.path for fileset in call.file_system.filesets.values()}
    mount = call.file_system.mount_point
    if place in directories or f"{mount}/{place}" in links:
        raise FailedError(f"{filesets.PATH_EXISTS} The directory {place} exists.")
    above = place.rpartition("/")[0]
    if above and above not in directories and f"{mount}/{above}" not in links:
        raise FailedError(f"{filesets.NO_DIRECTORY} The directory {above} does not exist.")
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
        raise FailedError(f"{filesets.NO_DIRECTORY} The directory {place} does not exist.")
    return owner
