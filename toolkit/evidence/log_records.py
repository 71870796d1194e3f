"""Lines that log stores keep as JSON: Docker, Fluent Bit, Elasticsearch, Loki, CloudWatch, Google Cloud, journald.

A program may print JSON of its own, whose figures its metrics read: a record of a store has one text, and no number
that is not a time, a place or an id.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

MARKS = tuple(
    f'"{key}":'.encode()
    for key in ("log", "message", "@message", "msg", "MESSAGE", "textPayload", "line", "body", "_raw")
)
"""Keys of the text, as they are in a line."""
_KEYS = tuple(mark[1:-2].decode() for mark in MARKS)
BEGINNINGS = frozenset({b"{", b" ", b"\t"})
"""First bytes of a record, and of a member of one."""
_WITHIN = ("_source", "jsonPayload", "attributes", "result")
"""Keys of objects that have the text and its place, in exports of a store."""
_PLACES = ("pod_name", "pod", "k8s.pod.name", "pod.name", "@logStream", "logStreamName", "logStream", "instance")
_PLACED = ("kubernetes", "labels", "metadata", "resource")
_NO_FIGURE = re.compile(r"time|date|^@?ts$|(?:^|[_.@])id$|pid|uid|offset|line|level|severity|seq|priority|flags", re.I)
_MEMBER = re.compile(rb'\s*"(?:message|@message)": ("(?:[^"\\]|\\.)*"),?')
"""A member of an indented list of events, on a line of its own."""


class Record(NamedTuple):
    """The text of a record, and the pod or stream that it names."""

    text: bytes
    source: str


def has_mark(block: bytes) -> bool:
    """Return whether a block of lines may hold records."""
    return b'":' in block and any(mark in block for mark in MARKS)


def read(raw: bytes) -> Record | None:
    """Return what a line records; None: it is none of a log store."""
    if not has_mark(raw):
        return None
    if (member := _MEMBER.fullmatch(raw)) is not None:
        text = _loaded(member[1])
        return Record(_encoded(text), "") if isinstance(text, str) else None
    record = _loaded(raw)
    if not isinstance(record, dict):
        return None
    for outer in (record, *(inner for key in _WITHIN if isinstance(inner := record.get(key), dict))):
        text = next((value for key in _KEYS if isinstance(value := outer.get(key), str)), None)
        if text is not None and not any(map(_is_figure, outer.items())):
            return Record(_encoded(text), _place(outer) or _place(record))
    return None


def _loaded(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return None


def _is_figure(member: tuple[str, object]) -> bool:
    key, value = member
    return isinstance(value, int | float) and not isinstance(value, bool) and _NO_FIGURE.search(key) is None


def _place(record: Mapping[str, Any]) -> str:
    for part in (record, *(inner for key in _PLACED if isinstance(inner := record.get(key), dict))):
        for key in _PLACES:
            place = part.get(key)
            name = place.get("name") if isinstance(place, dict) else place
            if isinstance(name, str):
                return name
    return ""


def _encoded(text: str) -> bytes:
    return text.rstrip("\r\n").replace("\n", " ").encode("utf-8", "replace")
