"""The provider's side of the engine's protocol (service ResourceProvider)."""

import json
import threading
from importlib.metadata import PackageNotFoundError, version

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc
from typing_extensions import override

from simulator.plugins.provider import state
from simulator.plugins.provider.answers import answers
from simulator.plugins.provider.connection import ApiError, Connection, UnreachableError
from simulator.plugins.provider.diff import Change, difference, path_of_text, text_of_path
from simulator.plugins.provider.engine_log import EngineLog
from simulator.plugins.provider.inputs import (
    BadInputError,
    ObjectType,
    annotation,
    checked,
    type_of_object,
    type_of_urn,
)
from simulator.plugins.provider.lifecycle import Lifecycle, Resource
from simulator.plugins.provider.readiness import job
from simulator.plugins.provider.results import RefusedError
from simulator.plugins.provider.settings import (
    BadSettingsError,
    ProviderSettings,
    means_another_cluster,
    settings_of,
)
from simulator.plugins.provider.values import decode, encode, mark_secrets, plain
from simulator.plugins.provider.wait_for import BadWaitError, timeout, wait_rule
from simulator.plugins.serving import engine_address, serve

_REPLACE_UNREADY = "pulumi.com/replaceUnready"
_KINDS = {
    ("add", False): provider_pb2.PropertyDiff.ADD,
    ("add", True): provider_pb2.PropertyDiff.ADD_REPLACE,
    ("delete", False): provider_pb2.PropertyDiff.DELETE,
    ("delete", True): provider_pb2.PropertyDiff.DELETE_REPLACE,
    ("update", False): provider_pb2.PropertyDiff.UPDATE,
    ("update", True): provider_pb2.PropertyDiff.UPDATE_REPLACE,
}
_FORGET = (
    "If the cluster was deleted, rerun with PULUMI_K8S_DELETE_UNREACHABLE=true to remove its resources from the state."
)


def serve_provider(arguments: list[str]) -> None:
    """Serve until the engine says stop."""
    servicer = ProviderServicer(engine_address(arguments))
    serve(
        lambda server: provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server),
        on_stop=servicer.cancel,
    )


def contract_version() -> str:
    """Return the version of the SDK beside this provider: the one whose contract it keeps."""
    try:
        return version("pulumi-kubernetes")
    except PackageNotFoundError:
        return "4.0.0"


class ProviderServicer(provider_pb2_grpc.ResourceProviderServicer):
    """One per provider resource of a program. Handlers run in threads of their own."""

    def __init__(self, engine: str) -> None:
        self._log = EngineLog(engine)
        self._cancelled = threading.Event()
        self._settings = ProviderSettings()
        self._lifecycle: Lifecycle | None = None
        self._unreachable = "the provider is not configured"
        self._configured_namespace = ""

    def cancel(self) -> None:
        """End every wait."""
        self._cancelled.set()

    @override
    def Handshake(
        self, request: provider_pb2.ProviderHandshakeRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ProviderHandshakeResponse:
        """Say what this provider understands: secrets; outputs and resources come as plain values."""
        if request.engine_address:
            self._log = EngineLog(request.engine_address)
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, supports_autonaming_configuration=True)

    @override
    def Attach(self, request: plugin_pb2.PluginAttach, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Return the engine attaches to a provider that runs already (PULUMI_DEBUG_PROVIDERS)."""
        self._log = EngineLog(request.address)
        return empty_pb2.Empty()

    @override
    def GetPluginInfo(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        """Return the version is that of the contract, so that the engine accepts it for the installed SDK."""
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
        arguments = decode(request.news)
        try:
            settings_of(arguments)
        except BadSettingsError as error:
            return provider_pb2.CheckResponse(failures=[provider_pb2.CheckFailure(reason=str(error))])
        return provider_pb2.CheckResponse(inputs=encode(arguments))

    @override
    def DiffConfig(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Which arguments changed, and whether another cluster is meant (then everything is made anew)."""
        old, new = decode(request.old_inputs or request.olds), decode(request.news)
        changed = sorted(key for key in {*old, *new} if plain(old.get(key)) != plain(new.get(key)))
        replaced = [key for key in changed if key in ("clusterIdentifier", "kubeconfig", "context", "cluster")]
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DIFF_SOME if changed else provider_pb2.DiffResponse.DIFF_NONE,
            diffs=changed,
            replaces=replaced if changed and means_another_cluster(old, new) else [],
        )

    @override
    def Configure(
        self, request: provider_pb2.ConfigureRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ConfigureResponse:
        """Connect. An unreachable cluster is no error yet: a preview does without, and state can be removed."""
        with answers(context):
            self._settings = settings_of(decode(request.args))
        try:
            connection = Connection(self._settings)
            self._configured_namespace = connection.default_namespace
            connection.request("GET", "/version")
            self._lifecycle = Lifecycle(connection, self._settings, self._log, self._cancelled)
        except (UnreachableError, ApiError) as error:
            self._unreachable = str(error)
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, supportsPreview=True, supports_autonaming_configuration=True
        )

    @override
    def Check(self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext) -> provider_pb2.CheckResponse:
        """Name the object, put it into its namespace, and refuse what cannot be one."""
        inputs, previous = decode(request.news), decode(request.olds)
        try:
            with answers(context):
                kind = type_of_urn(request.urn)
                namespace = self._configured_namespace
                if self._lifecycle:
                    namespace = self._lifecycle.default_namespace(kind, namespace)
                result = checked(
                    inputs,
                    previous,
                    kind,
                    logical_name=request.name or request.urn.split("::")[-1],
                    namespace=namespace,
                    seed=request.randomSeed,
                    proposed_name=request.autonaming.proposed_name,
                )
                wait_rule(result)
                timeout(result, 0, 0)
        except BadInputError as error:
            failure = provider_pb2.CheckFailure(property=error.field, reason=error.reason)
            return provider_pb2.CheckResponse(failures=[failure])
        except BadWaitError as error:
            failure = provider_pb2.CheckFailure(property="metadata.annotations", reason=str(error))
            return provider_pb2.CheckResponse(failures=[failure])
        return provider_pb2.CheckResponse(inputs=encode(mark_secrets(result, inputs)))

    @override
    def Diff(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Say what would change on the cluster, and whether the object must be replaced."""
        with answers(context):
            old_inputs, live = state.split(decode(request.olds))
            new = plain(decode(request.news))
            kind = type_of_object(new, type_of_urn(request.urn))
            if state.only_identity(old_inputs):
                old_inputs = new
            found = difference(
                old_inputs,
                live,
                new,
                kind,
                mutable_kinds=self._settings.mutable_kinds,
                ignored=tuple(path_of_text(text) for text in request.ignoreChanges),
            )
            replaced = [text_of_path(change.path) for change in found.changes if change.replaces]
            delete_first = found.delete_first
            if annotation(new, _REPLACE_UNREADY) == "true" and self._job_failed(kind, request.id):
                replaced.append(text_of_path(("metadata", "annotations", _REPLACE_UNREADY)))
                delete_first = True
        some = bool(found.changes or replaced)
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DIFF_SOME if some else provider_pb2.DiffResponse.DIFF_NONE,
            replaces=replaced,
            deleteBeforeReplace=delete_first,
            detailedDiff={text_of_path(change.path): _property_diff(change) for change in found.changes},
            hasDetailedDiff=True,
        )

    @override
    def Create(self, request: provider_pb2.CreateRequest, context: grpc.ServicerContext) -> provider_pb2.CreateResponse:
        """Make the object (or ask the server what would be made)."""
        inputs, resource = decode(request.properties), _resource(request.urn, request.timeout)
        with answers(context):
            if request.preview:
                if self._lifecycle is None:
                    self._warn_unreachable()
                    return provider_pb2.CreateResponse(properties=encode(inputs))
                outputs = self._lifecycle.preview_create(resource, inputs)
                return provider_pb2.CreateResponse(properties=encode(outputs))
            identity, outputs = self._reached().create(resource, inputs)
        return provider_pb2.CreateResponse(id=identity, properties=encode(outputs))

    @override
    def Update(self, request: provider_pb2.UpdateRequest, context: grpc.ServicerContext) -> provider_pb2.UpdateResponse:
        """Apply the inputs (or ask the server what would come of it)."""
        old, inputs, resource = decode(request.olds), decode(request.news), _resource(request.urn, request.timeout)
        ignored = tuple(path_of_text(text) for text in request.ignoreChanges)
        with answers(context):
            if request.preview:
                if self._lifecycle is None:
                    self._warn_unreachable()
                    return provider_pb2.UpdateResponse(properties=encode(inputs))
                outputs = self._lifecycle.preview_update(resource, old, inputs)
            else:
                outputs = self._reached().update(resource, old, inputs, ignored)
        return provider_pb2.UpdateResponse(properties=encode(outputs))

    @override
    def Read(self, request: provider_pb2.ReadRequest, context: grpc.ServicerContext) -> provider_pb2.ReadResponse:
        """Return the object as it is now (for refresh, import and get); an empty answer when it is gone."""
        with answers(context):
            if self._lifecycle is None and self._settings.delete_unreachable:
                return provider_pb2.ReadResponse()
            if self._lifecycle is None and self._settings.skip_update_unreachable:
                self._warn_unreachable()
                return provider_pb2.ReadResponse(id=request.id, properties=request.properties, inputs=request.inputs)
            found = self._reached(_FORGET).read(
                _resource(request.urn), request.id, decode(request.properties), decode(request.inputs)
            )
        if found is None:
            return provider_pb2.ReadResponse()
        return provider_pb2.ReadResponse(
            id=found.identifier, properties=encode(found.outputs), inputs=encode(found.inputs)
        )

    @override
    def Delete(self, request: provider_pb2.DeleteRequest, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Remove the object and wait until it is gone."""
        with answers(context):
            if self._lifecycle is None and self._settings.delete_unreachable:
                return empty_pb2.Empty()
            self._reached(_FORGET).delete(
                _resource(request.urn, request.timeout), request.id, decode(request.properties)
            )
        return empty_pb2.Empty()

    @override
    def Invoke(self, request: provider_pb2.InvokeRequest, context: grpc.ServicerContext) -> provider_pb2.InvokeResponse:
        """There are no functions here (helm, kustomize and YAML decoding are the official provider's)."""
        context.abort(
            grpc.StatusCode.UNIMPLEMENTED,
            f"{request.tok} is not supported by the offline Kubernetes provider; use the official one",
        )
        raise AssertionError

    @override
    def Cancel(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Return the engine gives up the command: end every wait."""
        self.cancel()
        return empty_pb2.Empty()

    def _reached(self, remedy: str = "") -> Lifecycle:
        if self._lifecycle is None:
            raise RefusedError(f"{self._unreachable}. {remedy}".rstrip())
        return self._lifecycle

    def _warn_unreachable(self) -> None:
        self._log.warn("", f"{self._unreachable}; the preview goes on without it")

    def _job_failed(self, kind: ObjectType, identity: str) -> bool:
        if self._lifecycle is None or kind.kind != "Job":
            return False
        found = self._lifecycle.live(kind, identity)
        return found is not None and job(found).state == "failed"


def _resource(urn: str, timeout: float = 0) -> Resource:
    return Resource(urn, type_of_urn(urn), timeout)


def _property_diff(change: Change) -> provider_pb2.PropertyDiff:
    return provider_pb2.PropertyDiff(
        kind=_KINDS[change.operation, change.replaces], inputDiff=change.operation == "delete"
    )
