"""One line of an MLPerf log as an event: MLLOG is JSON; MLL and MLP have seconds, a key and a value."""

import json
import re
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeGuard

_OLD = re.compile(
    r"(?:(?P<benchmark>[\w-]+) )?(?P<seconds>[0-9]{1,12}(?:\.[0-9]{1,9})?) (?:\([^()]*\) )?"
    r"(?P<key>[\w.-]+)(?:: (?P<value>.*))?",
    re.ASCII,
)
_QUOTED = re.compile(r"[0-9]{1,9}\.[0-9]{1,20}", re.ASCII)
Status = Literal["success", "aborted"]


class Event(NamedTuple):
    """The content of one line."""

    key: str
    seconds: float
    value: object
    metadata: Mapping[str, object]
    benchmark: str | None


def event_of(form: str, rest: str) -> Event | None:
    """Return the event of a line without its mark; None: it cannot be read."""
    if form == "MLLOG":
        whole = _json(rest)
        if not isinstance(whole, dict) or not isinstance(whole.get("key"), str):
            return None
        key, milliseconds = whole["key"], whole.get("time_ms")
        if not _is_figure(milliseconds):
            return None
        return Event(key, milliseconds / 1000, whole.get("value"), _mapping(whole.get("metadata")), None)
    match = _OLD.fullmatch(rest)
    if match is None:
        return None
    value: object = None
    if match["value"] is not None:
        value = _json(match["value"])
        if value is _BROKEN:
            return None
    metadata: Mapping[str, object] = {}
    wrapped = _mapping(value)
    if form == "MLL" and "value" in wrapped:
        value, metadata = wrapped["value"], _mapping(wrapped.get("metadata"))
    return Event(match["key"], float(match["seconds"]), value, metadata, match["benchmark"])


_BROKEN = object()


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _BROKEN


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _is_figure(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15  # noqa: PLR2004


def qualities(value: object) -> dict[str, float]:
    """Return a quality, or several by name (Mask R-CNN: BBOX and SEGM); v0.5 puts it into a mapping with the epoch.

    NVIDIA's Transformer of v0.6 prints it in quotes.
    """
    if isinstance(value, str) and _QUOTED.fullmatch(value):
        return {"accuracy": float(value)}
    if _is_figure(value):
        return {"accuracy": float(value)}
    by_name = _mapping(value)
    if (inner := by_name.get("value")) is not None:
        return qualities(inner) if _is_figure(inner) or isinstance(inner, dict) else {}
    return {str(name): float(quality) for name, quality in by_name.items() if name != "epoch" and _is_figure(quality)}


def epoch_of(event: Event) -> float | None:
    """Return the epoch of an evaluation; None: it has none."""
    epoch = event.metadata.get("epoch_num", _mapping(event.value).get("epoch"))
    return float(epoch) if _is_figure(epoch) else None


def status_of(event: Event) -> Status | None:
    """Return how a run ended; None: the event does not have it."""
    for fields in (event.metadata, _mapping(event.value)):
        status = fields.get("status", fields.get("success"))
        if status is True or status == "success":
            return "success"
        if status is False or status == "aborted":
            return "aborted"
    return None
