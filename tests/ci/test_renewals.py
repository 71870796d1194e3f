"""What ends on a day is a warning of the tests, and fails the scheduled jobs alone."""

import warnings
from datetime import UTC, date, datetime, timedelta

import pytest

from policies import exceptions
from tests.support.messages import has
from tests.support.renewals import AHEAD, Renewal, RenewalDue, renewals, report, warn

LAST = date(2027, 8, 3)
ENDING = Renewal(LAST, "support of OpenShift 4.21", "move the stacks")
BEFORE, WITHIN, AFTER = LAST - AHEAD, LAST - AHEAD + timedelta(days=1), LAST + timedelta(days=1)


def test_what_is_due_today_is_a_warning() -> None:
    """Releases of stacks, but historical ones, and exceptions end on a day; today's due ones warn, and fail no test."""
    entries = [*renewals()]
    names = " ".join(entry.what for entry in entries)
    assert has(names, "OpenShift 4.20", "prod")
    assert "redpaper-4.4" not in names
    assert {entry.name for entry in exceptions.load()} <= {entry.what for entry in entries}
    warn(datetime.now(UTC).date(), entries)


@pytest.mark.parametrize("day", [WITHIN, LAST, AFTER])
def test_a_warning_comes_ahead_and_stays(day: date) -> None:
    """From some weeks ahead of its last day on, something to renew warns with its day and the remedy."""
    with pytest.warns(RenewalDue, match=r"4\.21 ends on 2027-08-03; move the stacks"):
        warn(day, [ENDING])


def test_nothing_warns_long_before() -> None:
    """What ends later warns of nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn(BEFORE, [ENDING])


@pytest.mark.parametrize(("day", "status"), [(BEFORE, 0), (WITHIN, 1), (AFTER, 1)])
def test_the_scheduled_command_fails(day: date, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    """`make dates` fails from the first warning on, and prints what to renew; before, it says that nothing ends."""
    assert report(day, [ENDING]) == status
    assert (str(ENDING) if status else "nothing ends") in capsys.readouterr().out
