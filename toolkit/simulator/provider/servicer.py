"""The engine's requests about resources (service ResourceProvider); those about the provider: `configuration.py`."""

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc
from typing_extensions import override

from toolkit.engine.plugins.serving import engine_address, serve
from toolkit.engine.prediction.diff import difference, path_of_text, text_of_path
from toolkit.engine.prediction.inputs import (
    AUTONAMED,
    ObjectType,
    RefusedError,
    annotation,
    annotations_of,
    name_of,
    namespace_of,
    with_metadata,
)
from toolkit.engine.prediction.readiness import job
from toolkit.engine.prediction.values import plain
from toolkit.simulator.provider import state
from toolkit.simulator.provider.awaiters import Resource
from toolkit.simulator.provider.checks import Naming, checked, type_of_object, type_of_urn
from toolkit.simulator.provider.configuration import ConfigurationServicer
from toolkit.simulator.provider.errors import answers
from toolkit.simulator.provider.lifecycle import Lifecycle
from toolkit.simulator.provider.state import mark_secrets
from toolkit.simulator.provider.structs import decode, encode

_REPLACE_UNREADY = "pulumi.com/replaceUnready"
_KINDS = {
    ("add", False): provider_pb2.PropertyDiff.ADD,
    ("add", True): provider_pb2.PropertyDiff.ADD_REPLACE,
    ("delete", False): provider_pb2.PropertyDiff.DELETE,
    ("delete", True): provider_pb2.PropertyDiff.DELETE_REPLACE,
    ("update", False): provider_pb2.PropertyDiff.UPDATE,
    ("update", True): provider_pb2.PropertyDiff.UPDATE_REPLACE,
}
_UNREACHABLE = "configured Kubernetes cluster is unreachable"
_FORGET = (
    "If the cluster was deleted, you can remove this resource from Pulumi state by rerunning the operation with the"
    ' PULUMI_K8S_DELETE_UNREACHABLE environment variable set to "true"'
)
_DELETING = "Deleting the unreachable resource from Pulumi state"


def serve_provider(arguments: list[str]) -> None:
    """Serve until the engine says stop."""
    servicer = ProviderServicer(engine_address(arguments))
    serve(
        lambda server: provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server),
        on_stop=servicer.cancel,
    )


class ProviderServicer(ConfigurationServicer):
    """The requests about resources. Handlers run in threads of their own."""

    @override
    def Check(self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext) -> provider_pb2.CheckResponse:
        """Name the object, put it into its namespace, and refuse what cannot be one."""
        if self.lifecycle is None and self.settings.skip_update_unreachable:
            self.log.warn(request.urn, f"{_UNREACHABLE}: {self.unreachable}; skipUpdateUnreachable leaves it as it is")
            return provider_pb2.CheckResponse(inputs=request.olds)
        inputs = decode(request.news)
        with answers(context):
            kind = type_of_urn(request.urn)
            if kind.builtin and kind.kind.endswith("List"):
                raise RefusedError(
                    "list resources exist for compatibility with YAML manifests and Helm charts, and cannot be created"
                    " directly. Use the underlying resource type instead"
                )
            naming = Naming(
                request.name or request.urn.split("::")[-1],
                request.randomSeed,
                request.autonaming.proposed_name,
                disabled=request.autonaming.mode == provider_pb2.CheckRequest.AutonamingOptions.DISABLE,
            )
            if AUTONAMED in annotations_of(plain(inputs)):
                self.log.warn(request.urn, f'ignoring user-specified value for internal annotation "{AUTONAMED}"')
            result = checked(inputs, decode(request.olds), kind, naming)
            # A patch of a custom kind is looked up under a name that no server knows.
            if self.namespace and not namespace_of(result) and self._namespaced(kind, as_patch=kind.patch):
                result = with_metadata(result, namespace=self.namespace)
            if (kind.group, kind.kind) == ("apiextensions.k8s.io", "CustomResourceDefinition"):
                self.scopes.note(result)
        return provider_pb2.CheckResponse(inputs=encode(mark_secrets(result, inputs)))

    @override
    def Diff(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Return what would change on the cluster, and whether the object must be replaced."""
        with answers(context):
            old_inputs, live = state.split(decode(request.olds))
            new = plain(decode(request.news))
            kind = type_of_object(new, type_of_urn(request.urn))
            try:
                ignored = tuple(path_of_text(text) for text in request.ignoreChanges)
            except ValueError as error:
                raise RefusedError(f"failed to parse ignore path: {error}") from error
            diff = difference(
                old_inputs,
                live,
                new,
                kind,
                namespaced=self._namespaced(kind),
                mutable_kinds=self.settings.mutable_kinds,
                ignored=ignored,
            )
            replaced, delete_first = diff.replaced_paths, diff.delete_first
            if annotation(new, _REPLACE_UNREADY) == "true" and self._job_unready(request.urn, kind, request.id):
                replaced.append(f'.metadata.annotations["{_REPLACE_UNREADY}"]')
                delete_first = name_of(new) == name_of(live) and annotation(new, AUTONAMED) != "true"
        changed = bool(diff.changes or replaced)
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DIFF_SOME if changed else provider_pb2.DiffResponse.DIFF_NONE,
            replaces=replaced,
            deleteBeforeReplace=delete_first,
            detailedDiff={
                text_of_path(change.path): provider_pb2.PropertyDiff(
                    kind=_KINDS[change.operation, change.replaces], inputDiff=change.operation == "delete"
                )
                for change in diff.changes
            },
            hasDetailedDiff=True,
        )

    @override
    def Create(self, request: provider_pb2.CreateRequest, context: grpc.ServicerContext) -> provider_pb2.CreateResponse:
        """Make the object (or ask the server what would be made)."""
        inputs, resource = decode(request.properties), _resource(request.urn, request.timeout)
        with answers(context):
            if request.preview:
                if self.lifecycle is None:
                    return provider_pb2.CreateResponse(properties=request.properties)
                outputs = self.lifecycle.preview_create(resource, inputs)
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
                if self.lifecycle is None:
                    return provider_pb2.UpdateResponse(properties=request.news)
                outputs = self.lifecycle.preview_update(resource, old, inputs, ignored)
            else:
                outputs = self._reached().update(resource, old, inputs, ignored)
        return provider_pb2.UpdateResponse(properties=encode(outputs))

    @override
    def Read(self, request: provider_pb2.ReadRequest, context: grpc.ServicerContext) -> provider_pb2.ReadResponse:
        """Return the object as it is now (for refresh, import and get); an empty answer when it is gone."""
        with answers(context):
            if self.lifecycle is None:
                return self._unread(request)
            resource = self.lifecycle.read(
                _resource(request.urn), request.id, decode(request.properties), decode(request.inputs)
            )
        if resource is None:
            return provider_pb2.ReadResponse()
        return provider_pb2.ReadResponse(
            id=resource.identifier, properties=encode(resource.outputs), inputs=encode(resource.inputs)
        )

    def _unread(self, request: provider_pb2.ReadRequest) -> provider_pb2.ReadResponse:
        self.log.warn(request.urn, f"{_UNREACHABLE}: {self.unreachable}")
        if self.settings.delete_unreachable:
            self.log.info(request.urn, f"{_UNREACHABLE} and the `deleteUnreachable` option is enabled. {_DELETING}")
            return provider_pb2.ReadResponse()
        if self.settings.skip_update_unreachable:
            self.log.info(request.urn, f"{_UNREACHABLE}; `skipUpdateUnreachable` leaves the state as it is")
            return provider_pb2.ReadResponse(id=request.id, properties=request.properties, inputs=request.inputs)
        raise RefusedError(f"failed to read resource state due to unreachable cluster. {_FORGET}")

    @override
    def Delete(self, request: provider_pb2.DeleteRequest, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Remove the object and wait until it is gone."""
        with answers(context):
            if self.lifecycle is None:
                self.log.warn(request.urn, f"{_UNREACHABLE}: {self.unreachable}")
                if not self.settings.delete_unreachable:
                    raise RefusedError(f"{_UNREACHABLE}. {_FORGET}")
                self.log.info(request.urn, f"{_UNREACHABLE} and the `deleteUnreachable` option is enabled. {_DELETING}")
                return empty_pb2.Empty()
            self.lifecycle.delete(_resource(request.urn, request.timeout), request.id, decode(request.properties))
        return empty_pb2.Empty()

    def _namespaced(self, kind: ObjectType, *, as_patch: bool = False) -> bool:
        discovery = self.lifecycle.objects.discovery if self.lifecycle else None
        return self.scopes.namespaced(kind, discovery, as_patch=as_patch)

    def _reached(self) -> Lifecycle:
        if self.lifecycle is None:
            raise RefusedError(f"{_UNREACHABLE}: {self.unreachable}")
        return self.lifecycle

    def _job_unready(self, urn: str, kind: ObjectType, identity: str) -> bool:
        if self.lifecycle is None:
            self.log.warn(urn, "Cluster is unreachable, skipping replaceUnready check")
            return False
        if kind.kind != "Job":
            self.log.warn(urn, "replaceUnready annotation is not supported for this resource")
            return False
        live = self.lifecycle.live(kind, identity)
        return live is not None and not job(live).ready


def _resource(urn: str, timeout: float = 0) -> Resource:
    return Resource(urn, type_of_urn(urn), timeout)
