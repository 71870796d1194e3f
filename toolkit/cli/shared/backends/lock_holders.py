"""Who holds a lock, beyond what the engine writes into it: a host's name, which is not one machine's, and a process id.

A host's name is given again to every container of a runner, on each machine of a fleet; a process id is one of a pid
namespace. So an update that `./hpc` starts notes on this machine which lock is its own, under which boot and in which
namespace: if nothing of that has changed, and the process is gone, its lock is a dead one.
"""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from core.files import write_atomically
from toolkit.cli.shared.paths import own_files

_PROC = Path("/proc")
_PROGRAM = "pulumi"


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
        write_atomically(_file(url, key), json.dumps(content))


def noted(url: str, key: str) -> Place | None:
    """Return where the holder of a lock runs, if it was noted on this machine."""
    try:
        recorded = json.loads(_file(url, key).read_bytes())
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
    if noting is None:
        return own
    if noting.boot != place.boot:  # the machine has restarted since, if it is the same one
        return own
    return noting == place


def is_engine(pid: int) -> bool:
    """Whether `pid` runs and is an engine: pids are reused, and another process does not hold our lock."""
    try:
        return os.path.basename((_PROC / str(pid) / "exe").readlink()).startswith(_PROGRAM)  # noqa: PTH119
    except PermissionError:  # another user's process: it may well be one
        return True
    except OSError:
        return False


def _file(url: str, key: str) -> Path:
    """Return the one file for a stack of a backend: only one update holds its lock."""
    stack = key.rpartition("/")[0]
    return own_files() / "locks" / f"{hashlib.sha256(f'{url} {stack}'.encode()).hexdigest()[:32]}.json"
