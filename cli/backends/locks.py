"""Locks of the state, as the engine writes them."""

import json
import socket
from dataclasses import dataclass

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
    def stack(self) -> str:
        """The stack that it locks: the folder that it is in."""
        return self.key.split("/")[-2]

    @property
    def of_this_host(self) -> bool:
        """Whether its holder ran on a host of this name; that may be another machine or container all the same."""
        return self.hostname == socket.gethostname()

    def held(self) -> Problem:
        """Return what to say of a lock that cannot go."""
        return Problem(
            f"the stack is being updated by {self.holder}",
            "Wait until it ends, or stop it (Ctrl-C where it runs); if it is surely gone, "
            f"`./hpc pulumi --stack {self.stack} cancel`. Whether it lives can be told only where it was started, by "
            "`./hpc`.",
        )
