"""The engine's requests about the provider itself: what it supports, its arguments, its connection, its end."""

import json
import threading
from importlib.metadata import PackageNotFoundError, version

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc
from typing_extensions import override

from core.apis.client import ApiError
from toolkit.engine.prediction.diff import DEFAULT_NAMESPACE
from toolkit.engine.prediction.values import plain
from toolkit.simulator.provider.connection import Connection, UnreachableError
from toolkit.simulator.provider.discovery import Scopes
from toolkit.simulator.provider.errors import EngineLog, answers
from toolkit.simulator.provider.lifecycle import Lifecycle
from toolkit.simulator.provider.settings import ProviderSettings, settings_difference, settings_of, unusable_settings
from toolkit.simulator.provider.structs import decode


def contract_version() -> str:
    """Return the version of the SDK beside this provider: the one whose contract it keeps."""
    try:
        return version("pulumi-kubernetes")
    except PackageNotFoundError:
        return "4.0.0"


class ConfigurationServicer(provider_pb2_grpc.ResourceProviderServicer):
    """The requests about the provider itself: one for each provider resource of a program."""

    def __init__(self, engine: str) -> None:
        self.log = EngineLog(engine)
        self.cancelled = threading.Event()
        self.settings = ProviderSettings()
        self.lifecycle: Lifecycle | None = None
        self.unreachable = "the provider is not configured"
        self.namespace = ""
        self.scopes = Scopes()

    def cancel(self) -> None:
        """End every wait."""
        self.cancelled.set()

    @override
    def Handshake(
        self, request: provider_pb2.ProviderHandshakeRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ProviderHandshakeResponse:
        """Report what this provider supports: secrets; outputs and resources come as plain values."""
        if request.engine_address:
            self.log = EngineLog(request.engine_address)
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, supports_autonaming_configuration=True)

    @override
    def Attach(self, request: plugin_pb2.PluginAttach, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Attach to a running provider (PULUMI_DEBUG_PROVIDERS)."""
        self.log = EngineLog(request.address)
        return empty_pb2.Empty()

    @override
    def GetPluginInfo(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        """Return the version of the contract, so that the engine accepts it for the installed SDK."""
        return plugin_pb2.PluginInfo(version=contract_version())

    @override
    def GetSchema(
        self, request: provider_pb2.GetSchemaRequest, context: grpc.ServicerContext
    ) -> provider_pb2.GetSchemaResponse:
        """Return a schema without types: it is used to generate SDKs, which is the official provider's business."""
        schema = {"name": "kubernetes", "version": contract_version(), "provider": {}, "resources": {}}
        return provider_pb2.GetSchemaResponse(schema=json.dumps(schema))

    @override
    def CheckConfig(
        self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext
    ) -> provider_pb2.CheckResponse:
        """Return the arguments as they are, if this provider supports them."""
        failures = [
            provider_pb2.CheckFailure(property=name, reason=reason)
            for name, reason in unusable_settings(plain(decode(request.news)))
        ]
        return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

    @override
    def DiffConfig(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Return which arguments changed, and whether another cluster is meant (then everything is recreated)."""
        with answers(context):
            changed, replaced = settings_difference(
                plain(decode(request.old_inputs or request.olds)), plain(decode(request.news))
            )
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DIFF_SOME if changed else provider_pb2.DiffResponse.DIFF_NONE,
            diffs=changed,
            replaces=replaced,
        )

    @override
    def Configure(
        self, request: provider_pb2.ConfigureRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ConfigureResponse:
        """Connect. An unreachable cluster is not an error yet: a preview works without, and state can be removed."""
        with answers(context):
            self.settings = settings_of(decode(request.args))
        self.namespace = self.settings.namespace
        try:
            connection = Connection(self.settings)
            self.namespace = connection.default_namespace or DEFAULT_NAMESPACE
            connection.request("GET", "/api/v1")
            self.lifecycle = Lifecycle(connection, self.settings, self.log, self.cancelled)
        except (UnreachableError, ApiError) as error:
            self.unreachable = str(error)
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, supportsPreview=True, supports_autonaming_configuration=True
        )

    @override
    def Invoke(self, request: provider_pb2.InvokeRequest, context: grpc.ServicerContext) -> provider_pb2.InvokeResponse:
        """Refuse: there are no functions here (helm, kustomize and YAML decoding are the official provider's)."""
        context.abort(
            grpc.StatusCode.UNIMPLEMENTED,
            f"{request.tok} is not supported by the offline Kubernetes provider; use the official one",
        )
        raise AssertionError

    @override
    def Cancel(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """End every wait: the engine cancels the command."""
        self.cancel()
        return empty_pb2.Empty()
