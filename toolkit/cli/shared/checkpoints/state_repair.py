"""Repair what an interrupted update left in a state: locks of dead processes, and creates of unknown outcome."""

from pathlib import Path
from typing import Any

from toolkit.cli.shared.backends.backend import Backend
from toolkit.cli.shared.checkpoints import access, backups, other_stacks
from toolkit.cli.shared.checkpoints.interrupted import Live, Recovery, recover
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.review.titles import short_title

_CREATES = ("create", "create-replacement")
_PLANNED = ("urn", "type", "custom", "parent", "provider", "inputs", "protect", "retainOnDelete")
"""What the state has of a resource, and a preview reports; the next update records the rest."""


def settle(stack: Stack, engine: Engine, cluster: Cluster) -> None:
    """Settle what a killed update left behind, where the state can be read."""
    if (backend := stack.backend) is not None:
        repair(stack.name, backend, engine, cluster.find, backup_of(stack))


def backup_of(stack: Stack) -> Path:
    """Return the file that a state goes to before what was interrupted is settled in it."""
    return backups.place(stack, "before-repair")


def repair(stack: str, backend: Backend, engine: Engine, live: Live, backup: Path, *, thorough: bool = False) -> bool:
    """Remove the lock of a dead process, and settle creates that no one saw end; return whether there was any of it.

    `thorough`: ask the engine what it would create, too, and adopt what exists already: where the network lost the
    answer to a create, only this finds it. Raises Problem when a living process holds the lock, or one of another host,
    which may live.
    """
    released = backend.release(stack)
    for lock in released:
        print_text(f"removed the lock of process {lock.pid}, which is dead (since {lock.timestamp})")
    planned = _planned(engine) if thorough else []
    if not planned and not backend.checkpoint(stack).get("pending_operations"):
        return bool(released)
    before = access.read(engine, backend)
    recovery = recover(before.document, live, planned, other_stacks.of(stack, backend))
    if not recovery.changed:
        return bool(released)
    _print(recovery)
    access.write(engine, backend, before, recovery.deployment, backup)
    print_text(f"the state before is in {backup}")
    return True


def _print(recovery: Recovery) -> None:
    for urn in recovery.taken:
        print_text(f"interrupted: {short_title(urn)} is on the cluster, and now in the state")
    for urn in recovery.cleared:
        what = "belongs to another owner" if urn in recovery.foreign else "is repeated where needed"
        print_text(f"interrupted: {short_title(urn)} {what}")


def _planned(engine: Engine) -> list[dict[str, Any]]:
    """Return the resources that the next update would create, as far as a preview shows; secrets in them are masked."""
    status, events, last = engine.run_preview("what the next update would create", "preview")
    steps = [event["resourcePreEvent"]["metadata"] for event in events if "resourcePreEvent" in event]
    planned = [step["new"] for step in steps if step["op"] in _CREATES and step.get("new")]
    if status != 0 and not steps:
        raise Problem(f"what the next update would create could not be determined:\n{last}")
    return [{key: new[key] for key in _PLANNED if key in new} for new in planned if new.get("custom")]
