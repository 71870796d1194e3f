"""The locks of a stack's data sets: read when an environment is built, planned or judged, and never by the settings.

So `./hpc data select` can write a lock that is missing, and a preview needs the lock's file and no catalogue.
"""

from collections.abc import Iterator
from pathlib import Path

from core.datasets import catalogue, choice, lock
from core.datasets.lock import Lock
from core.errors import DataSetError
from stacks.checks import data_use
from stacks.resolved.locked_data import Locked
from stacks.settings.origins import wrong
from stacks.settings.platform import Settings
from stacks.settings.storage import DataSetSettings


def read(settings: Settings, root: Path) -> Locked:
    """Return the locks of all data sets, of files below `root`.

    Raises SettingsError, which lists all that is wrong: a lock that is missing, was edited manually or was selected by
    other settings, and sets that are larger than their volumes.
    """
    locks: dict[tuple[str, str], Lock] = {}
    problems = []
    for tenant in settings.tenants:
        for selection in tenant.data_sets:
            place = f"tenants: data_sets.{selection.name} of {tenant.namespace}"
            try:
                recorded = lock.read(root / selection.lock_file, selection.lock_file)
            except DataSetError as error:
                problems.append(f"{place}: {error}")
                continue
            problems += [f"{place}: {selection.lock_file} {reason}" for reason in stale(recorded, selection)]
            locks[tenant.namespace, selection.name] = recorded
    problems += data_use.between_locks(settings, locks)
    if problems:
        raise wrong("data sets", [f"  {problem}" for problem in problems])
    return locks


def stale(recorded: Lock, selection: DataSetSettings) -> Iterator[str]:
    """Yield why a lock is not that of the settings."""
    remedy = f"run `./hpc data select {selection.name} --stack STACK`, and review its lock"
    if recorded.name != selection.name:
        yield f"is the lock of {recorded.name}; correct `lock`, or {remedy}"
    elif others := choice.differing(recorded.choice, selection):
        yield f"was selected with other {', '.join(others)}; {remedy}"
    elif recorded.query != catalogue.frames(selection, choice.card_of(selection.card)):
        yield f"was selected with another card {selection.card}; {remedy}"
