"""Schedules and time zones of CronJobs."""

import pytest
from pydantic import TypeAdapter, ValidationError

from components.jobs.cron import Schedule, TimeZone

SCHEDULE = TypeAdapter(Schedule)


@pytest.mark.parametrize("text", ["0 2 * * 6", "*/15 0-6/2 1,15 JAN-mar MON", "@weekly", "5 4 ? * sun"])
def test_schedules_of_cron_are_taken(text: str) -> None:
    """Numbers, names, ranges, lists, steps and macros, as Kubernetes reads them."""
    assert SCHEDULE.validate_python(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 2 * *", r"has 4 fields; write five \(minute, .*day of the week\)"),
        ("0 24 * * *", "hour '24' is out of range; give 0 to 23"),
        ("0 2 * * 7", "day of the week '7' is out of range; give 0 to 6"),
        ("0 2 * foo *", "month 'foo' is out of range"),
        ("0 2 5-1 * *", "day of the month '5-1' ends before it begins"),
        ("*/0 2 * * *", "minute '\\*/0' has a step of 0"),
        ("0 2 * * */", "day of the week '\\*/' is not a number, range or step"),
        ("TZ=UTC 0 2 * * 6", "has 6 fields"),
    ],
)
def test_a_wrong_schedule_is_refused_by_its_field(text: str, expected: str) -> None:
    """The message names the field and what it may have."""
    with pytest.raises(ValidationError, match=expected):
        SCHEDULE.validate_python(text)


def test_time_zones_are_those_of_the_database() -> None:
    """A name that no database has is refused with an example."""
    zones = TypeAdapter(TimeZone)
    assert zones.validate_python("Europe/Berlin") == "Europe/Berlin"
    with pytest.raises(ValidationError, match=r"is not a time zone .*; write e.g. Europe/Berlin"):
        zones.validate_python("Berlin")
