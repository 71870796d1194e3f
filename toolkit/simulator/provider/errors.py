"""What the engine is told: how an operation failed, in the official provider's sentences, and messages meanwhile."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import grpc
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, provider_pb2, status_pb2

from core.apis.client import ApiError
from toolkit.engine.prediction.inputs import ObjectType, RefusedError
from toolkit.engine.prediction.values import Properties
from toolkit.simulator.provider.checks import PATCH_FORCE
from toolkit.simulator.provider.connection import UnreachableError
from toolkit.simulator.provider.settings import BadSettingsError
from toolkit.simulator.provider.structs import encode

_REQUIRED = "FieldValueRequired"
INFO = engine_pb2.LogSeverity.INFO
WARNING = engine_pb2.LogSeverity.WARNING


class PartialError(Exception):
    """The object exists and is recorded, but is not ready; the next update tries again."""

    def __init__(self, identifier: str, outputs: Properties, inputs: Properties | None, reasons: list[str]) -> None:
        super().__init__(reasons[0])
        self.identifier = identifier
        self.outputs = outputs
        self.inputs = inputs
        self.reasons = reasons


@dataclass(frozen=True)
class Found:
    """What a refresh or import finds."""

    identifier: str
    outputs: Properties
    inputs: Properties


@contextmanager
def answers(context: grpc.ServicerContext) -> Iterator[None]:
    """Turn the errors of an operation into the engine's."""
    try:
        yield
    except PartialError as error:
        context.abort_with_status(_partial(error))
    except (RefusedError, UnreachableError, ApiError, BadSettingsError, ValueError) as error:
        context.abort(grpc.StatusCode.UNKNOWN, str(error))


class _Status(grpc.Status):  # type: ignore[misc]
    """A status with details, as gRPC's own helper package would make it."""

    def __init__(self, details: str, binary: bytes) -> None:
        self.code = grpc.StatusCode.UNKNOWN
        self.details = details
        self.trailing_metadata = (("grpc-status-details-bin", binary),)


def _partial(error: PartialError) -> grpc.Status:
    detail = provider_pb2.ErrorResourceInitFailed(
        id=error.identifier,
        properties=encode(error.outputs),
        reasons=error.reasons,
        inputs=encode(error.inputs) if error.inputs is not None else None,
    )
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=str(error))
    status.details.add().Pack(detail)
    return _Status(str(error), status.SerializeToString())


def not_created(urn: str, error: Exception) -> str:
    """Return why a resource was not created."""
    text = f'resource "{urn}" was not successfully created by the Kubernetes API server: {explained(error)}'
    if isinstance(error, ApiError) and error.reason == "AlreadyExists":
        text += (
            "\n\nTo manage the existing object, import it (pulumi import, or the resource option import_), or set the"
            " provider's upsertExistingObjects; for a renamed resource, give an alias."
        )
    return text


def not_deleted(kind: ObjectType, error: ApiError) -> str:
    """Return why a resource was not deleted."""
    causes = [cause for cause in error.details.get("causes", []) if cause.get("reason") == _REQUIRED]
    if kind.patch and causes:
        return (
            "this Patch resource is currently managing a required field, so it can't be deleted directly. Either set"
            " the `retainOnDelete` resource option, or transfer ownership of the field before deleting:"
            f" {causes[0].get('field')}"
        )
    return str(error)


def explained(error: Exception) -> str:
    """Return the words of an error; after those of a conflict, what to do."""
    if isinstance(error, ApiError) and error.conflict and "conflict" in str(error):
        return (
            f"{error}. Another field manager owns these fields with other values: leave them out of the program, or "
            f'set the annotation {PATCH_FORCE}: "true" to take them over.'
        )
    return str(error)


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
