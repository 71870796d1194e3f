"""Free ports on loopback, each given to one process of a user only."""

import fcntl
import os
import secrets
import socket
import tempfile
from functools import cache
from pathlib import Path

from toolkit.engine.errors import SimulatorError

LOOPBACK = "127.0.0.1"
FIRST = 20000
ATTEMPTS = 200


def is_free(port: int) -> bool:
    """Return whether a server could listen on `port` of the loopback address now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As Go's servers do: closed connections of a server that has just stopped do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free(taken: set[int] | None = None, *, first: int = FIRST, last: int | None = None) -> int:
    """Return a free port that is not in `taken`.

    It lies below the range that outgoing connections get their ports from, so that it is still free at the
    next start of the cluster. It is reserved until this process ends, for its server may listen only seconds later,
    and clusters start at the same time.
    """
    end = last if last is not None else _first_ephemeral() - 1
    for _ in range(ATTEMPTS):
        port = first + secrets.randbelow(max(end - first + 1, 1))
        if port not in (taken or ()) and is_free(port) and _reserve(port):
            return port
    raise SimulatorError(f"no free port between {first} and {end} on {LOOPBACK}: stop some of the servers there.")


def _reserve(port: int) -> bool:
    """Lock the byte of a port in a file of the user; False where another process has it."""
    try:
        fcntl.lockf(_reservations(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except BlockingIOError:
        return False
    return True


@cache
def _reservations() -> int:
    """Open the file whose locks are the reservations; it stays open, as closing it would release them."""
    path = Path(tempfile.gettempdir()) / f"hpc-ports-{os.getuid()}"
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


def _first_ephemeral() -> int:
    try:
        low = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError):
        return 32768
    return low if low > FIRST + 1000 else 65536
