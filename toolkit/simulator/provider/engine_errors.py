"""Errors of the provider as the engine wants them: a message, or a message and the half-ready object."""

from collections.abc import Iterator
from contextlib import contextmanager

import grpc
from pulumi.runtime.proto import provider_pb2, status_pb2

from core.apis.client import ApiError
from toolkit.engine.prediction.inputs import RefusedError
from toolkit.simulator.provider.connection import UnreachableError
from toolkit.simulator.provider.results import PartialError
from toolkit.simulator.provider.settings import BadSettingsError
from toolkit.simulator.provider.structs import encode


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
