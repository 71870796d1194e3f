"""Messages to the engine: lines under a resource, and the short text behind it in the progress display."""

import threading

import grpc
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc

INFO = engine_pb2.LogSeverity.INFO
WARNING = engine_pb2.LogSeverity.WARNING


class EngineLog:
    """Sends messages; an engine that does not listen (any more) is not a reason to fail."""

    def __init__(self, address: str) -> None:
        self._stub = engine_pb2_grpc.EngineStub(grpc.insecure_channel(address)) if address else None
        self._lock = threading.Lock()
        self._said: set[tuple[str, str]] = set()

    def warn(self, urn: str, text: str) -> None:
        """Return a warning under the resource, printed once however often it comes."""
        with self._lock:
            if (urn, text) in self._said:
                return
            self._said.add((urn, text))
        self._send(WARNING, urn, text, ephemeral=False)

    def warn_again(self, urn: str, text: str) -> None:
        """Print a warning under the resource each time that it comes."""
        self._send(WARNING, urn, text, ephemeral=False)

    def info(self, urn: str, text: str) -> None:
        """Return a line under the resource."""
        self._send(INFO, urn, text, ephemeral=False)

    def status(self, urn: str, text: str) -> None:
        """Show what the resource waits for; the next text takes its place."""
        self._send(INFO, urn, text, ephemeral=True)

    def _send(self, severity: engine_pb2.LogSeverity.ValueType, urn: str, text: str, *, ephemeral: bool) -> None:
        if self._stub is None:
            return
        try:
            self._stub.Log(
                engine_pb2.LogRequest(severity=severity, urn=urn, message=text, ephemeral=ephemeral), timeout=5
            )
        except grpc.RpcError:
            return
