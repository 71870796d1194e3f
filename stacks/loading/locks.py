"""The locks of a stack's data sets: read when an environment is built, planned or judged, and never by the settings.

So `./hpc data select` can write a lock that is missing, and a preview needs the lock's file and no catalogue.
"""

from collections.abc import Iterator
from pathlib import Path

from core.datasets import choice, lock, query
from core.datasets.lock import Lock
from core.errors import DataSetError
from stacks.checks import data_set
from stacks.resolved.locked_data import Locked
from stacks.settings.data_sets import DataSetSettings
from stacks.settings.error import wrong
from stacks.settings.platform import Settings


def read(settings: Settings, root: Path) -> Locked:
    """Return the locks of all data sets, of files below `root`.

    Raises SettingsError, which lists all that is wrong: a lock that is missing, was edited manually or was selected by
    other settings, and sets that are larger than their volumes.
    """
    found: dict[tuple[str, str], Lock] = {}
    problems = []
    for tenant in settings.tenants:
        for each in tenant.data_sets:
            place = f"tenants: data_sets.{each.name} of {tenant.namespace}"
            try:
                made = lock.read(root / each.lock_file, each.lock_file)
            except DataSetError as error:
                problems.append(f"{place}: {error}")
                continue
            problems += [f"{place}: {each.lock_file} {reason}" for reason in stale(made, each)]
            found[tenant.namespace, each.name] = made
    problems += data_set.problems(settings, found)
    if problems:
        raise wrong("data sets", [f"  {each}" for each in problems])
    return found


def stale(made: Lock, wanted: DataSetSettings) -> Iterator[str]:
    """Yield why a lock is not that of the settings."""
    again = f"run `./hpc data select {wanted.name} --stack STACK`, and review its lock"
    if made.name != wanted.name:
        yield f"is the lock of {made.name}; correct `lock`, or {again}"
    elif others := choice.differing(made.choice, wanted):
        yield f"was selected with other {', '.join(others)}; {again}"
    elif made.query != query.frames(wanted, choice.card_of(wanted.card)):
        yield f"was selected with another card {wanted.card}; {again}"
