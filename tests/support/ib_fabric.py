"""A simulated InfiniBand fabric: ibsim with a network file, and programs that send their packets to it.

They talk over Unix sockets of this machine. ibsim ends with its standard input.
"""

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.support import debian

_START = 10
"""Seconds until ibsim listens, at most."""


class IbFabric:
    """A fabric that is simulated."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def run(self, *arguments: str, at: str, seconds: int = 30) -> str:
        """Return what a program prints that runs on the host of an adapter; opensm ignores any signal but KILL."""
        program = debian.program(arguments[0])
        done: subprocess.CompletedProcess[str] = subprocess.run(
            [program, *arguments[1:]],
            env={**self._environment, "SIM_HOST": at},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        return done.stdout + done.stderr


@contextmanager
def simulated(network: str, folder: Path) -> Iterator[IbFabric]:
    """Simulate a network for ibsim; raise AssertionError where ibsim refuses it."""
    file = folder / "ibsim.net"
    file.write_text(network)
    library = next(Path(debian.folder(), "root").glob("usr/lib/*/umad2sim/libumad2sim.so"), None)
    library = library or next(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"))
    # Its sockets are named by a number, which is this process's: workers of pytest run at the same time.
    port = 10_000 + os.getpid() % 50_000
    environment = {**debian.environment(), "IBSIM_SERVER_PORT": str(port)}
    log = folder / "ibsim.log"
    with (
        log.open("w") as output,
        subprocess.Popen(
            [debian.program("ibsim"), "-s", file], env=environment, stdin=subprocess.PIPE, stdout=output, stderr=output
        ) as ibsim,
    ):
        try:
            _await(ibsim, log)
            yield IbFabric({**environment, "LD_PRELOAD": str(library), "OSM_TMP_DIR": str(folder), "HOME": str(folder)})
        finally:
            ibsim.kill()


def _await(ibsim: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _START
    while "simulator ready" not in (text := log.read_text()):
        assert ibsim.poll() is None, f"ibsim has ended: {text}"
        assert time.monotonic() < end, f"ibsim does not start: {text}"
        time.sleep(0.02)
