"""What ends on a day: support of the releases that stacks of the project have, and exceptions to the policies.

A test only warns of it, so that no commit goes red by the calendar; the scheduled jobs run `make dates`, which fails.
"""

import sys
import warnings
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from policies import exceptions
from stacks.loading.settings import load
from stacks.releases import RELEASES
from tests.support.recorded import OURS, ROOT

AHEAD = timedelta(days=60)
"""How long before its last day something counts as due: after it `make up` and other tests may be refused."""


class Renewal(NamedTuple):
    """Something to renew by its last day."""

    last_day: date
    what: str
    remedy: str

    def __str__(self) -> str:
        """Return the message."""
        return f"{self.what} ends on {self.last_day}; {self.remedy}"


class RenewalDue(UserWarning):
    """Something of the project ends soon, or has ended."""


def renewals() -> Iterator[Renewal]:
    """Yield everything of the project that ends on a day."""
    stacks: dict[str, list[str]] = {}
    for stack in OURS:
        stacks.setdefault(load(stack, ROOT).version.name, []).append(stack)
    for release, users in stacks.items():
        if last_day := RELEASES[release].last_day:
            support = f"support of OpenShift {release} (stacks {', '.join(users)})"
            yield Renewal(last_day, support, "move them to a later release")
    for entry in exceptions.load():
        yield Renewal(entry.expires, entry.name, "renew `expires` in policies/exceptions.yaml, or delete the exception")


def due(day: date, entries: Iterable[Renewal]) -> list[Renewal]:
    """Return what has ended by a day or ends within `AHEAD` of it, the first to end first."""
    return sorted(entry for entry in entries if entry.last_day - day < AHEAD)


def warn(day: date, entries: Iterable[Renewal]) -> None:
    """Warn of everything that is due."""
    for entry in due(day, entries):
        warnings.warn(str(entry), RenewalDue, stacklevel=2)


def report(day: date, entries: Iterable[Renewal]) -> int:
    """Print everything that is due, and return the exit status: 1 if anything is."""
    lines = [str(entry) for entry in due(day, entries)]
    sys.stdout.writelines(f"{line}\n" for line in lines or [f"nothing ends within {AHEAD.days} days"])
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(report(datetime.now(UTC).date(), renewals()))
