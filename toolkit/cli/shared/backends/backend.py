"""The engine's own layout of a state backend without a service (it calls it DIY): stacks, locks, tags."""

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolkit.cli.shared.backends.locks import Lock, is_dead, note
from toolkit.cli.shared.backends.store import FolderStore, Store
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import PROJECT

CLUSTER_UID, CLUSTER_SERVER = "hpc:cluster-uid", "hpc:cluster-server"
"""Tags of a stack: the cluster that its state is about."""
_STACKS = f".pulumi/stacks/{PROJECT}/"
_LOCKS = f".pulumi/locks/organization/{PROJECT}/"
_STATES = (".json", ".json.gz")
_TAGS = ".pulumi-tags"


@dataclass(frozen=True)
class Backend:
    """One backend: the URL that the engine gets, and what is behind it."""

    url: str
    store: Store
    own: bool = False
    """Whether it goes with a simulated cluster, so that only its machine writes to it."""

    def checkpoint(self, stack: str) -> dict[str, Any]:
        """Return the latest deployment of a stack (`resources`, `pending_operations`, ...); empty where there is none.

        Raises Problem for a state that cannot be read.
        """
        content = self.read(stack)
        if content is None:
            return {}
        try:
            latest: dict[str, Any] = (json.loads(content).get("checkpoint") or {}).get("latest") or {}
        except (ValueError, AttributeError) as error:
            raise Problem(
                f"the state of stack {stack} is damaged: {error}",
                f"It is {self.store.where(self.key(stack))}; `./hpc state list --stack {stack}` shows older ones, and "
                f"`./hpc state restore --stack {stack}` brings one back.",
            ) from None
        return latest

    def resources(self, stack: str) -> list[dict[str, Any]]:
        """Return the resources in the state of a stack; raises as `checkpoint`."""
        return list(self.checkpoint(stack).get("resources") or ())

    def read(self, stack: str) -> bytes | None:
        """Return the state of a stack as the engine wrote it, unpacked; None where the stack is not there."""
        content = self.store.read(self.key(stack))
        return None if content is None else unpacked(content)

    def written(self, stack: str) -> float | None:
        """Return when the state of a stack was written, in seconds since 1970; None where the stack is not there."""
        return self.store.modified(self.key(stack))

    def key(self, stack: str) -> str:
        """Return the key of a stack's state: packed where there is nothing else."""
        plain, packed = self.candidates(stack)
        stored_keys = self.store.keys(plain)
        return packed if packed in stored_keys and plain not in stored_keys else plain

    def candidates(self, stack: str) -> tuple[str, str]:
        """Return the keys that a stack's state can have: plain, and packed."""
        plain, packed = (f"{_STACKS}{stack}{ending}" for ending in _STATES)
        return plain, packed

    def remove_unreadable_attributes(self, stack: str) -> None:
        """Remove what a killed engine left cut beside the files of a stack in a folder."""
        if isinstance(self.store, FolderStore):
            for key in (*self.candidates(stack), f"{_STACKS}{stack}{_TAGS}"):
                self.store.remove_unreadable_attributes(key)

    def has(self, stack: str) -> bool:
        """Whether the stack is there."""
        return self.key(stack) in self.store.keys(f"{_STACKS}{stack}.json")

    def stacks(self) -> list[str]:
        """Return the names of all stacks."""
        names = (key.removeprefix(_STACKS) for key in self.store.keys(_STACKS))
        return sorted({name.removesuffix(end) for name in names for end in _STATES if name.endswith(end)})

    def tags(self, stack: str, at: float | None = None) -> dict[str, str]:
        """Return what is noted about a stack (`pulumi stack tag`); nothing where it cannot be read.

        `at`: what was noted then, in seconds since 1970, where versions are stored; else what is noted now.
        """
        key = f"{_STACKS}{stack}{_TAGS}"
        old = [
            version
            for version in self.store.versions(key)
            if at is not None and version.modified <= at and not version.removed
        ]
        content = self.store.read_version(key, old[0].id) if old else self.store.read(key)
        try:
            tags = json.loads(content or b"{}").get("tags")
        except (ValueError, AttributeError):
            return {}
        return tags if isinstance(tags, dict) else {}

    def locks(self, stack: str) -> tuple[Lock, ...]:
        """Return the locks of a stack; raise Problem for one that cannot be read."""
        locks = []
        for key in self.store.keys(f"{_LOCKS}{stack}/"):
            if key.endswith(".json") and (content := self.store.read(key)) is not None:
                locks.append(Lock.read(key, content, self.store.where(key)))
        return tuple(locks)

    def is_dead(self, lock: Lock) -> bool:
        """Whether the holder of a lock is certainly gone; of a backend that others share only this machine's own."""
        return lock.of_this_host and is_dead(self.url, lock.key, lock.pid, own=self.own)

    def note_lock(self, stack: str, pid: int) -> bool:
        """Note the lock of an engine that this process started, for `is_dead`; return whether there is one.

        An update goes on without a note: `pulumi cancel` is needed then.
        """
        try:
            mine = [lock.key for lock in self.locks(stack) if lock.pid == pid and lock.of_this_host]
            for key in mine:
                note(self.url, key)
        except (Problem, OSError):
            return False
        return bool(mine)

    def release(self, stack: str) -> tuple[Lock, ...]:
        """Remove the locks of dead processes and return them; raise Problem when one may be a living process's."""
        locks = self.locks(stack)
        for lock in locks:
            if not self.is_dead(lock):
                raise lock.held()
        for lock in locks:
            self.store.remove(lock.key)
        return locks


def unpacked(content: bytes) -> bytes:
    """Return what the engine wrote, packed or not; nothing where it was not packed to its end."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError):
        return b""


def of_folder(folder: Path) -> Backend:
    """Return the backend in a folder of a simulated cluster.

    Without `metadata=skip` each state file has a second one beside it, which is not written in one piece: an engine
    that is killed at that moment leaves a stack that no command can load any more.
    """
    return Backend(f"{folder.as_uri()}?metadata=skip", FolderStore(folder), own=True)
