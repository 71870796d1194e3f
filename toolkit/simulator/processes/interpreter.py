"""Processes of this program, in the environment of the interpreter that starts them."""

import sys
from functools import cache

from core.files import digest
from toolkit.simulator.home import REPOSITORY
from toolkit.simulator.processes.supervisor import Command

ROOMS = ("toolkit/simulator", "toolkit/engine", "core", "policies")
"""What the processes of this program consist of."""


def python(name: str, arguments: list[str], ports: tuple[int, ...], *settings: bytes) -> Command:
    """Return a process of this program, in this very interpreter's environment; changed code makes it restart."""
    environment = {
        "PYTHONPATH": str(REPOSITORY),
        "PYTHONUNBUFFERED": "1",
        "HPC_SIM_REVISION": digest(_sources(), *settings),
    }
    return Command(name, [sys.executable, "-m", *arguments], environment, ports)


@cache
def _sources() -> bytes:
    return b"\0".join(path.read_bytes() for room in ROOMS for path in sorted((REPOSITORY / room).rglob("*.py")))
