"""Locks of the state's file backend: those of dead processes are removed, those of living ones respected."""

import json
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from cli.errors import Problem


@dataclass(frozen=True)
class Lock:
    """One lock file, as the engine writes it."""

    file: Path
    pid: int
    username: str
    hostname: str
    timestamp: str

    @property
    def stale(self) -> bool:
        """Whether its holder ran on this host and is dead; of another host nobody can tell."""
        return self.hostname == socket.gethostname() and not _is_pulumi(self.pid)


def read(folder: Path) -> tuple[Lock, ...]:
    """Return the locks in a stack's lock folder."""
    found = []
    for file in sorted(folder.glob("*.json")):
        try:
            content = json.loads(file.read_text())
            lock = Lock(file, int(content["pid"]), content["username"], content["hostname"], content["timestamp"])
        except FileNotFoundError:  # its holder has just removed it
            continue
        except (ValueError, KeyError) as error:  # killed while it was writing
            raise Problem(
                f"the lock file {file} is unreadable ({error})", "If no `pulumi` runs on this stack, remove that file."
            ) from None
        found.append(lock)
    return tuple(found)


def release(folder: Path) -> tuple[Lock, ...]:
    """Remove the stale locks and return them; raise Problem when a living process holds one."""
    locks = read(folder)
    for lock in locks:
        if not lock.stale:
            raise Problem(
                f"the stack is being updated by process {lock.pid} of {lock.username} on {lock.hostname} "
                f"since {lock.timestamp}",
                "Wait until it ends, or stop it (Ctrl-C where it runs); if it is surely gone, `./hpc pulumi cancel`.",
            )
    for lock in locks:
        lock.file.unlink(missing_ok=True)
        lock.file.with_name(f"{lock.file.name}.attrs").unlink(missing_ok=True)
    return locks


def _is_pulumi(pid: int) -> bool:
    """Whether `pid` lives and is an engine: pids are used again, and a stranger's does not keep our lock."""
    try:
        return os.path.basename((Path("/proc") / str(pid) / "exe").readlink()).startswith("pulumi")  # noqa: PTH119
    except PermissionError:  # somebody else's process: it may well be one
        return True
    except OSError:
        return False
