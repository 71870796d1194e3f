"""What GET answers, by path."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from werkzeug.wrappers import Request

from toolkit.simulator.scale_management import answers, directories, listing
from toolkit.simulator.scale_management.calls import Call, FailedError, RefusedError
from toolkit.simulator.scale_management.listing import ALL
from toolkit.simulator.scale_management.routes import paths
from toolkit.simulator.scale_management.state import FileSystem, State

EVERY = (ALL, ":all_local:")
"""In place of a file system's name: all of them."""


def read(call: Call, endpoint: str, request: Request, page: int) -> dict[str, Any]:
    """Return what a path has, without jobs."""
    return _ANSWERS[endpoint](call, request, page)


def listed(key: str, entries: Sequence[Mapping[str, Any]], request: Request, page: int) -> dict[str, Any]:
    """Return a page of the entries that the query's filter leaves, with the fields that it names."""
    arguments = request.args
    chosen = listing.filtered(entries, arguments.get("filter", ""))
    kept = "&".join(f"{name}={value}" for name, value in arguments.items() if name != "lastId")
    base = f"{request.base_url}?{kept}" if kept else request.base_url
    selection, more = listing.page(chosen, arguments.get("lastId", ""), base, page)
    return {key: [listing.selected(entry, arguments.get("fields", "")) for entry in selection], **more}


_Answer = Callable[[Call, Request, int], dict[str, Any]]


def _fixed(content: Callable[[State], dict[str, Any]]) -> _Answer:
    return lambda call, _, __: content(call.state)


def _of_each(key: str, of: Callable[[FileSystem, Call], Iterable[dict[str, Any]]]) -> _Answer:
    def answer(call: Call, request: Request, page: int) -> dict[str, Any]:
        all_file_systems = call.names["fs"] in EVERY
        places = call.state.file_systems.values() if all_file_systems else (call.file_system,)
        return listed(key, [entry for place in places for entry in of(place, call)], request, page)

    return answer


def _nodes(_: Call, request: Request, page: int) -> dict[str, Any]:
    return listed("nodes", answers.nodes(), request, page)


def _file_systems(call: Call, request: Request, page: int) -> dict[str, Any]:
    named = "fs" in call.names and call.names["fs"] not in EVERY
    chosen = {call.file_system.name} if named else {*call.state.file_systems}
    entries = [entry for entry in answers.file_systems(call.state) if entry["name"] in chosen]
    return listed("filesystems", entries, request, page)


def _fileset(call: Call, request: Request, page: int) -> dict[str, Any]:
    name = call.fileset.name
    entries = [entry for entry in answers.filesets(call.file_system) if entry["filesetName"] == name]
    return listed("filesets", entries, request, page)


def _owner(call: Call, _: Request, __: int) -> dict[str, Any]:
    try:
        uid, _colon, gid = directories.owner_of(call).partition(":")
    except FailedError:
        raise RefusedError("File not found") from None
    return {"owner": {"uid": int(uid), "gid": int(gid)}}


_ANSWERS: Mapping[str, _Answer] = {
    "/info": _fixed(lambda _: {"info": {"serverVersion": answers.VERSION, "paths": paths()}}),
    "/cluster": _fixed(lambda state: {"cluster": answers.cluster(state)}),
    "/config": _fixed(lambda state: {"config": answers.config(state)}),
    "/nodes": _nodes,
    "/filesystems": _file_systems,
    "/filesystems/<fs>": _file_systems,
    "/filesystems/<fs>/filesets": _of_each("filesets", lambda place, _: answers.filesets(place)),
    "/filesystems/<fs>/filesets/<fileset>": _fileset,
    "/filesystems/<fs>/quotas": _of_each("quotas", lambda place, _: answers.quotas(place)),
    "/filesystems/<fs>/afm/state": _of_each(
        "filesetAfmStateList", lambda place, call: answers.afm_states(place, call.home)
    ),
    "/filesystems/<fs>/owner/<path:place>": _owner,
}
