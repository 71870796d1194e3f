"""A process that is waited for to its end, whatever ends us: an engine that goes on alone holds the lock of its state.

Ctrl-C goes to all processes of a terminal. SIGTERM, what a cancelled CI job ends in, comes to us alone or to all.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

TERMINATED = 128 + signal.SIGTERM
_GRACE = 0.5  # seconds in which a process reports that it got the signal itself
_WAITING = b"terminated: waiting for the engine to record its progress\n"


@contextmanager
def started(
    command: Sequence[str], *, heard: Callable[[], bool] | None = None, **options: Any
) -> Iterator["subprocess.Popen[str]"]:
    """Start a process and wait for its end; SIGTERM is passed on to it as SIGINT, once, and ends us afterwards.

    `heard`: whether the process has the signal already; the engine takes a second one as the wish to drop what is
    under way. Raises SystemExit with the status of SIGTERM.
    """
    process: subprocess.Popen[str] | None = None
    terminated = False

    def interrupt() -> None:
        if process is not None:
            if heard is not None:
                time.sleep(_GRACE)
            if heard is None or not heard():
                process.send_signal(signal.SIGINT)

    def take(_number: int, _frame: FrameType | None) -> None:
        nonlocal terminated
        if not terminated:
            terminated = True
            os.write(2, _WAITING)  # a print in a handler may stand within another one
            interrupt()

    ours = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, take) if ours else None
    try:
        process = subprocess.Popen(command, text=True, **options)
        if terminated:
            interrupt()
        try:
            yield process
        finally:
            while process.poll() is None:
                with suppress(KeyboardInterrupt):
                    process.wait()
    finally:
        if ours:
            signal.signal(signal.SIGTERM, before)
    if terminated:
        raise SystemExit(TERMINATED)
