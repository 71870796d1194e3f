"""Locks of the state, as the engine writes them."""

import json
import socket
from dataclasses import dataclass

from toolkit.cli.shared.errors import Problem


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
