"""What GET answers, by path; of lists which entries, which fields, which page."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from werkzeug.wrappers import Request

from toolkit.simulator.scale_management import answers, filesets
from toolkit.simulator.scale_management.calls import Call, FailedError, RefusedError
from toolkit.simulator.scale_management.routes import paths
from toolkit.simulator.scale_management.state import FileSystem, State

ALL = ":all:"
PAGE = 1000
_CONDITION = re.compile(r"\s*([\w.]+)=('''(?:.*?)'''|[^,]*)(?:,|$)")


class QueryError(ValueError):
    """A query that cannot be answered: its parameter."""


def filtered(entries: Sequence[Mapping[str, Any]], condition: str) -> list[Mapping[str, Any]]:
    """Return the entries that meet a condition `a=b,c.d='''regex'''`: all of its parts."""
    parts, end = [], 0
    while end < len(condition):
        match = _CONDITION.match(condition, end)
        if match is None:
            raise QueryError("filter")
        parts.append((match[1].split("."), match[2]))
        end = match.end()
    try:
        return [entry for entry in entries if all(_meets(_at(entry, path), expected) for path, expected in parts)]
    except re.error:
        raise QueryError("filter") from None


def _meets(value: Any, expected: str) -> bool:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if expected.startswith("'''"):
        return re.fullmatch(expected.strip("'"), text) is not None
    return value is not None and text == expected


def _at(entry: Any, path: Sequence[str]) -> Any:
    for key in path:
        entry = entry.get(key) if isinstance(entry, Mapping) else None
    return entry


def selected(entry: Mapping[str, Any], fields: str) -> dict[str, Any]:
    """Return the fields of an entry that are named, as `a,b.c`; all of them for none and for :all:."""
    if fields in ("", ALL):
        return dict(entry)
    chosen: dict[str, Any] = {}
    for path in (name.strip().split(".") for name in fields.split(",")):
        value = _at(entry, path)
        if value is None:
            continue
        place = chosen
        for key in path[:-1]:
            place = place.setdefault(key, {})
        place[path[-1]] = value
    return chosen


def page_of(
    entries: Sequence[Mapping[str, Any]], last: str, base: str, size: int
) -> tuple[Sequence[Mapping[str, Any]], dict[str, Any]]:
    """Return the entries after the one with number `last`, and where there are more, what says where those are."""
    if last and not last.isdigit():
        raise QueryError("lastId")
    start = int(last) if last else 0
    end = start + size
    more = {"paging": {"lastId": end, "next": f"{base}{'&' if '?' in base else '?'}lastId={end}"}}
    return entries[start:end], more if end < len(entries) else {}


EVERY = (ALL, ":all_local:")
"""In place of a file system's name: all of them."""


def read(call: Call, endpoint: str, request: Request, page: int) -> dict[str, Any]:
    """Return what a path has, without jobs."""
    return _ANSWERS[endpoint](call, request, page)


def listed(key: str, entries: Sequence[Mapping[str, Any]], request: Request, page: int) -> dict[str, Any]:
    """Return a page of the entries that the query's filter leaves, with the fields that it names."""
    arguments = request.args
    chosen = filtered(entries, arguments.get("filter", ""))
    kept = "&".join(f"{name}={value}" for name, value in arguments.items() if name != "lastId")
    base = f"{request.base_url}?{kept}" if kept else request.base_url
    selection, more = page_of(chosen, arguments.get("lastId", ""), base, page)
    return {key: [selected(entry, arguments.get("fields", "")) for entry in selection], **more}


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
        uid, _colon, gid = filesets.owner_of(call).partition(":")
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
