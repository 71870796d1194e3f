"""The content of DLLogger's lines: `step name : value unit name : value ...`, and stamps."""

import re
from datetime import UTC, datetime
from typing import TypeGuard

from toolkit.evidence.parser import number

NAMES_KEPT = 200
LARGEST = 1e30
"""A larger figure is none that an example logs."""

_STEP = re.compile(r"\([0-9, ]*\)|[A-Za-z0-9:/ ]*|\[\]", re.ASCII)
_COUNT = re.compile(r"(?<![/0-9A-Za-z])[0-9]{1,12}", re.ASCII)
FIGURE = re.compile(r"-?[0-9]{1,15}(?:[.,][0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
_NAME = re.compile(r"[A-Za-z_][\w.@/%-]*", re.ASCII)
_UNIT = re.compile(r"[A-Za-z%][\w/%.]{0,20}", re.ASCII)


def elapsed(first: str, last: str) -> float | None:
    """Return the seconds between two stamps of one form; None where one is not a time, or they run backwards."""
    try:
        seconds = _seconds(last) - _seconds(first)
    except ValueError:
        return None
    return round(seconds, 6) if seconds >= 0 else None


def _seconds(stamp: str) -> float:
    return datetime.fromisoformat(stamp).replace(tzinfo=UTC).timestamp() if "-" in stamp else float(stamp)


def is_figure(value: object) -> TypeGuard[float]:
    """Return whether a value of JSON is a figure that an example logs."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST


def figures(body: str) -> tuple[tuple[int, ...], dict[str, float], dict[str, str]] | None:
    """Return the step, the figures and their units of `step name : value unit name : value ...`.

    None: it is cut or mixed.
    """
    words = body.split()
    places = [place for place, word in enumerate(words) if word == ":"]
    end = places[0] - 1 if places else 0
    step = " ".join(words[: max(end, 0)])
    if end < 0 or _STEP.fullmatch(step) is None:
        return None
    metrics: dict[str, float] = {}
    units: dict[str, str] = {}
    for place, following in zip(places, [*(place - 1 for place in places[1:]), len(words)], strict=True):
        # The name is alone behind the last value and its unit, and a value and at most a unit follow it.
        name, values = words[place - 1], words[place + 1 : following]
        if place - 1 != end or not values or _NAME.fullmatch(name) is None or len(metrics) >= NAMES_KEPT:
            return None
        value, *unit = values
        if FIGURE.fullmatch(value):
            metrics[name] = number(value)
        elif value[0].isdigit() and "/" not in value:
            return None
        if unit and (len(unit) > 1 or _UNIT.fullmatch(unit[0]) is None):
            return None
        if unit:
            units[name] = unit[0]
        end = following
    return tuple(int(count) for count in _COUNT.findall(step)), metrics, units
