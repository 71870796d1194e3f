"""When a CronJob starts: the five fields of a schedule, and time zones, as the Job controller reads them.

Source: github.com/robfig/cron v3, its standard parser, which Kubernetes uses; kubernetes.io/docs/concepts/workloads/
controllers/cron-jobs.
"""

import re
from functools import cache
from typing import Annotated, NamedTuple
from zoneinfo import available_timezones

from pydantic import AfterValidator

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_MACROS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_PART = re.compile(r"(?P<from>\*|\?|\w+)(?:-(?P<to>\w+))?(?:/(?P<step>\d+))?")


class _Field(NamedTuple):
    name: str
    first: int
    last: int
    names: tuple[str, ...] = ()


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, ("", *_MONTHS)),
    _Field("day of the week", 0, 6, tuple(_DAYS)),
)


def _schedule(text: str) -> str:
    if text in _MACROS:
        return text
    words = text.split()
    if len(words) != len(_FIELDS):
        names = ", ".join(field.name for field in _FIELDS)
        raise ValueError(f"has {len(words)} fields; write five ({names}), e.g. '0 2 * * 6' for Saturdays at 2:00")
    for field, word in zip(_FIELDS, words, strict=True):
        for part in word.split(","):
            if fault := _field_problem(field, part):
                raise ValueError(f"{field.name} {part!r} {fault}; give {field.first} to {field.last}, or *")
    return text


def _field_problem(field: _Field, part: str) -> str:
    match = _PART.fullmatch(part)
    if match is None:
        return "is not a number, range or step"
    if match["step"] and int(match["step"]) == 0:
        return "has a step of 0"
    if match["from"] in ("*", "?"):
        return "is a range of all" if match["to"] else ""
    ends = [_number(field, word) for word in (match["from"], match["to"] or match["from"])]
    if None in ends:
        return "is out of range"
    begin, end = (bound or 0 for bound in ends)
    return "ends before it begins" if begin > end else ""


def _number(field: _Field, word: str) -> int | None:
    if word.lower() in field.names and word:
        return field.names.index(word.lower())
    return int(word) if word.isdecimal() and field.first <= int(word) <= field.last else None


_time_zones = cache(available_timezones)
"""Reads the names of all files of the database: 15 ms."""


def _zone(name: str) -> str:
    zones = _time_zones()
    # Without a database of time zones, as in a minimal container, the cluster alone can say.
    if zones and name not in zones:
        raise ValueError("is not a time zone of the IANA database; write e.g. Europe/Berlin or Etc/UTC")
    return name


Schedule = Annotated[str, AfterValidator(_schedule)]
"""Minute, hour, day of the month, month, day of the week; or @daily and the like."""
TimeZone = Annotated[str, AfterValidator(_zone)]
"""A name of the IANA database."""
