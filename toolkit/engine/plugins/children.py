"""Child processes of the language host: stopped with it, and their output passed on as it comes."""

import os
import subprocess
import threading
from collections.abc import Iterator
from queue import SimpleQueue
from typing import IO


class Registered:
    """Has a child in the set of those to stop, for as long as it runs."""

    def __init__(
        self, child: subprocess.Popen[bytes], children: set[subprocess.Popen[bytes]], lock: threading.Lock
    ) -> None:
        self._child, self._children, self._lock = child, children, lock

    def __enter__(self) -> None:
        with self._lock:
            self._children.add(self._child)

    def __exit__(self, *_: object) -> None:
        if self._child.poll() is None:
            self._child.kill()
            self._child.wait()
        with self._lock:
            self._children.discard(self._child)


def pipe(stream: IO[bytes] | None) -> IO[bytes]:
    """Return the stream, which is there for a child that was started with pipes."""
    assert stream is not None, "the child was started with pipes"  # noqa: S101
    return stream


def chunks(streams: dict[str, IO[bytes]]) -> Iterator[tuple[str, bytes]]:
    """Report what the streams give, as it comes, until all are closed."""
    queue: SimpleQueue[tuple[str, bytes]] = SimpleQueue()

    def pump(name: str, stream: IO[bytes]) -> None:
        while chunk := os.read(stream.fileno(), 65536):
            queue.put((name, chunk))
        queue.put((name, b""))

    for name, stream in streams.items():
        threading.Thread(target=pump, args=(name, stream), daemon=True).start()
    still_open = len(streams)
    while still_open:
        name, chunk = queue.get()
        if chunk:
            yield name, chunk
        else:
            still_open -= 1
