"""A way to a server that can be cut: in both directions, or only for the answers."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Proxy:
    """Forwards connections to a port of this host, until it is cut."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._cut = self._mute = False
        self.refused = 0  # connections that came while it was cut
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self) -> None:
        """Break every connection, and every later one as it comes."""
        self._cut = True
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            _end(connection)

    def mute(self) -> None:
        """Break every connection at its next answer: the request has been carried out, and its answer is lost."""
        self._mute = True

    def mend(self) -> None:
        """Forward again."""
        self._cut = self._mute = False

    def close(self) -> None:
        """End it."""
        self.cut()
        self._listener.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if self._cut:
                    self.refused += 1
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._target))
                with self._lock:
                    self._open |= {near, far}
                threading.Thread(target=self._pump, args=(near, far, False), daemon=True).start()
                threading.Thread(target=self._pump, args=(far, near, True), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if answers and self._mute:
                    break
                target.sendall(data)
        for connection in (source, target):
            _end(connection)
            with self._lock:
                self._open.discard(connection)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxy(target: int) -> Iterator[Proxy]:
    """Give a proxy, which ends with the test."""
    made = Proxy(target)
    try:
        yield made
    finally:
        made.close()
