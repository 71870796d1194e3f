"""Locks of the state: those of dead processes of this host can go, all others are respected."""

import json
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from cli.errors import Problem


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
        """Return what a lock says; raise Problem for one that was not written to its end."""
        try:
            said = json.loads(content)
            return cls(key, int(said["pid"]), said["username"], said["hostname"], said["timestamp"])
        except (ValueError, KeyError, TypeError) as error:
            raise Problem(
                f"the lock {where} is unreadable ({error})", "If no `pulumi` runs on this stack, remove it."
            ) from None

    @property
    def holder(self) -> str:
        """Who holds it, for people."""
        return f"process {self.pid} of {self.username} on {self.hostname} since {self.timestamp}"

    @property
    def stale(self) -> bool:
        """Whether its holder ran on this host and is dead; of another host nobody can tell."""
        return self.hostname == socket.gethostname() and not _is_pulumi(self.pid)

    def require_stale(self) -> None:
        """Raise Problem unless the lock can go."""
        if not self.stale:
            raise Problem(
                f"the stack is being updated by {self.holder}",
                "Wait until it ends, or stop it (Ctrl-C where it runs); if it is surely gone, `./hpc pulumi cancel`.",
            )


def _is_pulumi(pid: int) -> bool:
    """Whether `pid` lives and is an engine: pids are used again, and a stranger's does not keep our lock."""
    try:
        return os.path.basename((Path("/proc") / str(pid) / "exe").readlink()).startswith("pulumi")  # noqa: PTH119
    except PermissionError:  # somebody else's process: it may well be one
        return True
    except OSError:
        return False
