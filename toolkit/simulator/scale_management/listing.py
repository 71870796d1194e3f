"""Lists of the REST interface: which fields, which entries, which page."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

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


def page(
    entries: Sequence[Mapping[str, Any]], last: str, base: str, size: int
) -> tuple[Sequence[Mapping[str, Any]], dict[str, Any]]:
    """Return the entries after the one with number `last`, and where there are more, what says where those are."""
    if last and not last.isdigit():
        raise QueryError("lastId")
    start = int(last) if last else 0
    end = start + size
    more = {"paging": {"lastId": end, "next": f"{base}{'&' if '?' in base else '?'}lastId={end}"}}
    return entries[start:end], more if end < len(entries) else {}
