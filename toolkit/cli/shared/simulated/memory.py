"""Resident memory of a simulated cluster, sampled while a command runs."""

import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from toolkit.simulator.processes import Processes, procfs

_PERIOD = 1.0  # seconds; a sample reads /proc once and takes some 10 ms
MIB = 1024 * 1024


def resident(home: Path) -> int:
    """Return the bytes that all processes of a cluster have now (pages that they share count for each)."""
    processes = Processes(home)
    pids = {pid for record in processes.running().values() for pid in processes.members(record)}
    return sum(procfs.memory(pid)[0] for pid in pids)


class Peak:
    """The highest sum of resident memory seen during a block, in bytes."""

    def __init__(self, home: Path) -> None:
        self.bytes = 0
        self._home, self._stop = home, threading.Event()
        self._thread = threading.Thread(target=self._sample, name="memory", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        while True:
            self.bytes = max(self.bytes, resident(self._home))
            if self._stop.wait(_PERIOD):
                return
