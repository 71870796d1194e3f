"""The normal form of results: what differs from run to run is taken out or named, and order where it means nothing."""

import re
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

_DROPPED = frozenset({"resourceVersion", "selfLink"})
_PATTERNS = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uid>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"), "<time>"),
    (re.compile(r"pulumi-kubernetes-[0-9a-f]{8}"), "pulumi-kubernetes-<random>"),
    (re.compile(r"\bthing-[0-9a-f]{7,8}\b"), "thing-<random>"),
    (re.compile(r"\bkube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}\b"), "kube-api-access-<random>"),
    (re.compile(r"172\.30\.\d+\.\d+"), "<ip>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<address>"),
    (re.compile(re.escape(tempfile.gettempdir()) + r"/[^\s\"':]+"), "<path>"),
)
_NODE_PORTS = "nodePort"


def normal(value: Any) -> Any:
    """Return a value of a result without what is by chance."""
    match value:
        case str():
            return _text(value)
        case Mapping():
            return {_text(key): _field(key, item) for key, item in value.items() if key not in _DROPPED}
        case list() | tuple():
            return [normal(item) for item in value]
        case _:
            return value


def _field(key: str, value: Any) -> Any:
    if key == "managedFields" and isinstance(value, list):
        return sorted(normal(_owner(entry)) for entry in value)
    if key == _NODE_PORTS and isinstance(value, int):
        return "<port>"
    return normal(value)


def _text(text: str) -> str:
    for pattern, name in _PATTERNS:
        text = pattern.sub(name, text)
    return text


def _owner(entry: Mapping[str, Any]) -> str:
    """Return who owns what, as one line."""
    who = " ".join(str(entry[key]) for key in ("manager", "operation", "apiVersion", "subresource") if entry.get(key))
    return f"{who}: {_owned(entry.get('fieldsV1') or {})}"


def _owned(fields: Mapping[str, Any]) -> str:
    parts = []
    for key, value in sorted(fields.items()):
        inner = _owned(value) if value else ""
        parts.append(key.removeprefix("f:") + (f"({inner})" if inner else ""))
    return " ".join(parts)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Say what a value holds, path by path; an empty list or object is a leaf."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]")
    else:
        yield path, value
