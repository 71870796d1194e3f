"""Bringing an older state of a stack back: what speaks against it, what it changes, and doing it through the engine."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli import checkpoints, neighbours, settings_copy
from cli.backends import kept
from cli.backends.backend import Backend
from cli.backends.tags import UID
from cli.checkpoints import Checkpoint
from cli.engine import Engine
from cli.errors import Problem
from cli.events import short
from cli.keeping import backups
from cli.places import PROJECT
from cli.recovery import Live, recover
from cli.restoring import Difference, Restored, difference, fit, without
from cli.stack import Stack
from simulator.files import write_atomically

_SHOWN = 12
_VERSION = 3
"""Of exports of the engine."""
_CIPHER = '"ciphertext"'


@dataclass(frozen=True)
class Plan:
    """A restore that has been thought through."""

    present: Checkpoint
    """The state as the engine exports it now; of a damaged one, the newest that is kept and can be read."""
    damaged: bytes | None
    """The state itself, where nobody can read it."""
    document: dict[str, Any]
    """What is to be imported."""
    restored: Restored
    change: Difference

    def lines(self) -> list[str]:
        """Return what the restore changes, for people."""
        groups = (
            ("comes back into the state", self.change.gained),
            ("goes out of the state", self.change.lost),
            ("was changed since, and is applied again by the next update; secrets always are", self.change.changed),
            ("stays, because it is on the cluster", self.restored.taken),
            ("stays as it is, because it was another object then, or not finished", self.restored.renewed),
            ("is left out, because it is not on the cluster any more, or another's by now", self.restored.gone),
        )
        lines = [line for title, urns in groups for line in _group(title, urns)]
        others = len(self.change.reported)
        return [*lines, f"{others} more: only what the cluster reported of them is as it was"] if others else lines


def from_file(file: Path) -> tuple[dict[str, Any], str]:
    """Return the deployment of a backup, and the UID of its cluster, if that is noted."""
    if not file.exists():
        raise Problem(f"there is no file {file}", "An id of `./hpc state list --stack STACK` goes behind --version.")
    found = backups.read(file)
    return found.deployment, found.cluster


def from_version(backend: Backend, stack: str, version: str) -> tuple[dict[str, Any], str]:
    """Return the deployment of a version that is kept, and the UID of the cluster that the stack had then."""
    one = kept.find(backend, stack, version)
    found = kept.read(backend, one)
    if found is None:
        raise Problem(f"version {version} of the state of stack {stack} cannot be read", "Take another.")
    return found, backend.tags(stack, at=one.modified).get(UID, "")


def require_own(stack: Stack, found: Mapping[str, Any], cluster: str, here: str) -> None:
    """Raise Problem when a state is another stack's or another cluster's, or its key is not the one of today.

    `cluster` and `here` are the UIDs of the state's cluster and of the present one; empty where nobody knows.
    """
    strangers = {part for each in kept.resources(found) if (part := _owner(each["urn"])) != (stack.name, PROJECT)}
    if strangers:
        name, project = sorted(strangers)[0]
        raise Problem(
            f"this is the state of stack {name} of project {project}, not of stack {stack.name} of {PROJECT}",
            f"`./hpc state list {stack.options}` shows what there is of this stack.",
        )
    if cluster and here and cluster != here:
        raise Problem(
            f"this state is about the cluster {cluster}, and stack {stack.name} is now on {here}",
            "None of its objects is there. Bring the stack up on the new cluster; nothing needs to be restored.",
        )
    settings = settings_copy.read(stack.copy if stack.copied else stack.file)
    then, now = _key(found), settings.get("encryptionsalt") or settings.get("encryptedkey")
    if then and now and then != now and _CIPHER in json.dumps(found):
        raise Problem(
            f"the secrets in this state are encrypted with an earlier key than those of {stack.file.name}",
            f"Take {stack.file.name} of that time (git), with the passphrase of that time, restore, and then rotate "
            f"the key again: `./hpc state rotate {stack.options}`.",
        )


def plan(stack: Stack, running: Engine, backend: Backend | None, found: Mapping[str, Any], live: Live | None) -> Plan:
    """Return what a restore of a deployment would do; without `live` it comes back as it was, fitting or not."""
    damaged = backend.read(stack.name) if backend and _unreadable(stack.name, backend) else None
    if backend and damaged is not None:
        present = Checkpoint({"version": _VERSION, "deployment": _newest(stack.name, backend)}, damaged)
    else:
        present = checkpoints.read(running, backend)
    now = present.document.get("deployment") or {}
    others = neighbours.of(stack.name, backend)
    if live is None:
        restored = without(found, others)
    else:
        settled = recover({"deployment": dict(found)}, live, others=others).deployment["deployment"]
        restored = fit(settled, now, live, others)
    document = {**present.document, "deployment": restored.deployment}
    return Plan(present, damaged, document, restored, difference(now, restored.deployment))


def keep(stack: Stack, wanted: Plan, tags: Mapping[str, str]) -> Path:
    """Write the present state to a file, as it is, and return where."""
    if wanted.damaged is None:
        file = backups.place(stack, "before-restore")
        backups.write(stack, wanted.present.document, tags, file)
    else:
        file = backups.place(stack, "damaged")
        write_atomically(file, wanted.damaged)
    return file


def carry_out(running: Engine, backend: Backend | None, wanted: Plan) -> None:
    """Write the state, unless it changed since the restore was thought through: raises Problem then."""
    checkpoints.write(running, backend, wanted.present, wanted.document)


def _unreadable(stack: str, backend: Backend) -> bool:
    try:
        backend.checkpoint(stack)
    except Problem:
        return True
    return False


def _newest(stack: str, backend: Backend) -> dict[str, Any]:
    """Return what is known of today where the state is damaged; nothing where there is no other."""
    readable = (kept.read(backend, one) for one in kept.kept(backend, stack) if not one.removed)
    return next((found for found in readable if found is not None), {})


def _group(title: str, urns: tuple[str, ...]) -> list[str]:
    if not urns:
        return []
    more = [f"  ... and {len(urns) - _SHOWN} more"] if len(urns) > _SHOWN else []
    return [f"{title} ({len(urns)}):", *(f"  {short(urn)}" for urn in urns[:_SHOWN]), *more]


def _owner(urn: str) -> tuple[str, str]:
    """Return stack and project of a URN."""
    head, _, rest = urn.removeprefix("urn:pulumi:").partition("::")
    return head, rest.partition("::")[0]


def _key(found: Mapping[str, Any]) -> str:
    state = (found.get("secrets_providers") or {}).get("state") or {}
    return str(state.get("salt") or state.get("encryptedkey") or "")
