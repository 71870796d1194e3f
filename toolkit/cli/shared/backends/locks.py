"""Locks of the state, as the engine writes them, and whether their holders are gone.

A lock names a host, which is not one machine (every container of a runner has the same name), and a process id, which
is one of a pid namespace. So an update that `./hpc` starts notes on this machine which lock is its own, under which
boot and in which namespace: if nothing of that has changed, and the process is gone, its lock is a dead one.
"""

import hashlib
import json
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from core.files import write_atomically
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import own_files

_PROC = Path("/proc")


@dataclass(frozen=True)
class Place:
    """Where process ids are unique: one boot of one machine, and a pid namespace there."""

    boot: str
    namespace: str


def here() -> Place | None:
    """Return where this process runs; None where the system does not report it (macOS)."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return Place(boot, str((_PROC / "self/ns/pid").readlink()))
    except OSError:
        return None


def note(url: str, key: str) -> None:
    """Note that the lock with this key, in the backend of a URL, is of a process here; it follows that of before."""
    if (place := here()) is not None:
        content = {"lock": key, "boot": place.boot, "namespace": place.namespace}
        write_atomically(_note_file(url, key), json.dumps(content))


def noted(url: str, key: str) -> Place | None:
    """Return where the holder of a lock runs, if it was noted on this machine."""
    try:
        recorded = json.loads(_note_file(url, key).read_bytes())
        return Place(recorded["boot"], recorded["namespace"]) if recorded["lock"] == key else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def is_dead(url: str, key: str, pid: int, *, own: bool) -> bool:
    """Whether the holder of a lock, of a host of this name, is certainly gone.

    `own`: only this machine writes to the backend, so that a lock without a note is of this machine, too.
    """
    place, noting = here(), noted(url, key)
    if place is None or is_engine(pid):
        return False
    if noting is None or noting.boot != place.boot:  # no note, or the machine has restarted since, if it is the same
        return own
    return noting == place


def is_engine(pid: int) -> bool:
    """Whether `pid` runs and is an engine: pids are reused, and another process does not hold our lock."""
    try:
        return os.path.basename((_PROC / str(pid) / "exe").readlink()).startswith("pulumi")  # noqa: PTH119
    except PermissionError:  # another user's process: it may well be one
        return True
    except OSError:
        return False


def _note_file(url: str, key: str) -> Path:
    """Return the one file for a stack of a backend: only one update holds its lock."""
    stack = key.rpartition("/")[0]
    return own_files() / "locks" / f"{hashlib.sha256(f'{url} {stack}'.encode()).hexdigest()[:32]}.json"


@dataclass(frozen=True)
class Lock:
    """One lock, as the engine writes it."""

    key: str
    pid: int
    username: str
    hostname: str
    timestamp: str

    @classmethod
    def read(cls, key: str, content: bytes, where: str) -> "Lock":
        """Return the content of a lock; raise Problem for one that was not written to its end."""
        try:
            lock = json.loads(content)
            return cls(key, int(lock["pid"]), lock["username"], lock["hostname"], lock["timestamp"])
        except (ValueError, KeyError, TypeError) as error:
            raise Problem(
                f"the lock {where} is unreadable ({error})", "If no `pulumi` runs on this stack, remove it."
            ) from None

    @property
    def holder(self) -> str:
        """Who holds it, for users."""
        return f"process {self.pid} of {self.username} on {self.hostname} since {self.timestamp}"

    @property
    def stack(self) -> str:
        """The stack that it locks: the folder that it is in."""
        return self.key.split("/")[-2]

    @property
    def of_this_host(self) -> bool:
        """Whether its holder ran on a host of this name; that may be another machine or container all the same."""
        return self.hostname == socket.gethostname()

    def held(self) -> Problem:
        """Return the error of a lock that cannot be removed."""
        return Problem(
            f"the stack is being updated by {self.holder}",
            f"Wait until it ends, or interrupt it on {self.hostname} with `kill -INT {self.pid}`; if it has certainly "
            f"exited, `./hpc pulumi --stack {self.stack} cancel`. Only the machine on which `./hpc` started it can "
            "determine that.",
        )
