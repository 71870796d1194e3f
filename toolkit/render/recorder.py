"""Records what the program registers: resources with their options, as the engine would receive them.

Pulumi's mocks see inputs only. The monitor underneath receives the whole request, so parents, dependencies, protection
and replacement rules can be recorded, too. Its `RegisterResource` is not a public interface, hence the pinned SDK.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pulumi
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from pulumi.runtime import mocks, resource, rpc
from pulumi.runtime.proto.source_pb2 import StackTrace

from core.garbage_collection import no_collection
from core.pulumi_values import REDACTED, SIGNATURE


@dataclass(frozen=True)
class Registration:
    """One resource: what it is, what it was given, and the options that the engine acts on."""

    type: str
    name: str
    urn: str
    inputs: Mapping[str, Any]
    parent: str
    dependencies: tuple[str, ...] = ()
    property_dependencies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    protect: bool = False
    retain_on_delete: bool = False
    delete_before_replace: bool = False
    replace_on_changes: tuple[str, ...] = ()
    ignore_changes: tuple[str, ...] = ()
    replacement_trigger: Any = None
    aliases: tuple[str, ...] = ()
    """Former types."""
    former_names: tuple[str, ...] = ()
    secret_keys: tuple[str, ...] = ()
    """Of a Secret: the keys of its data, whose values are not recorded."""
    arguments: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Of a component: its inputs as the engine stores them, including nulls inside them."""

    @property
    def is_kubernetes(self) -> bool:
        """Whether it is an object on the cluster, and not a component, a provider or the stack."""
        return self.type.startswith("kubernetes:")


def record(
    program: Callable[[], object], *, stack: str, project: str, first_preview: bool = False
) -> tuple[Registration, ...]:
    """Run `program` and return its registrations, sorted by type and name.

    Everything it waits for is there at once: subscriptions are installed, jobs have not failed. In a `first_preview`
    the cluster has nothing yet, so whatever the program reads from it is unknown. An error of the program is raised
    as it is.
    """
    cluster = _EmptyCluster() if first_preview else _Cluster()
    monitor = _Monitor(cluster)
    mocks.set_mocks(cluster, project=project, stack=stack, preview=first_preview, monitor=monitor)
    with _without_source_positions(), no_collection():
        _run_to_the_end(program)()
    return tuple(sorted(monitor.registrations, key=lambda item: (item.type, item.name)))


def plain(value: Any) -> Any:
    """Return a value of the wire as JSON data: whole floats become integers, secrets are redacted."""
    if isinstance(value, pulumi.Output):
        return REDACTED
    if isinstance(value, Mapping):
        if SIGNATURE in value:
            return REDACTED
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


@contextmanager
def _without_source_positions() -> Iterator[None]:
    """Leave out a resource's place in the program: it is not recorded, and takes a seventh of the time.

    The SDK has no option for it. Measured in one run on the stack prod: 0.48 s of CPU without places, 0.56 s with.
    """
    whole = resource._get_stack_trace
    resource._get_stack_trace = StackTrace
    try:
        yield
    finally:
        resource._get_stack_trace = whole


# The SDK ships these two without types.
_run_to_the_end: Callable[[Callable[[], object]], Callable[[], None]] = mocks.test
_register: Callable[[mocks.MockMonitor, Any], Message] = mocks.MockMonitor.RegisterResource


class _Cluster(mocks.Mocks):
    """Answers for a cluster on which everything goes well."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        metadata = args.inputs.get("metadata") or {}
        identity = "/".join(str(part) for part in (metadata.get("namespace"), metadata.get("name")) if part)
        return identity or args.name, {**args.inputs, **_status(args)}

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        raise NotImplementedError(f"the program reads {args.token} from the cluster while it is being recorded")


class _EmptyCluster(_Cluster):
    """Answers as a preview does before the first update: with the inputs, and no status."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        return super().new_resource(args)[0], dict(args.inputs)


def _status(args: mocks.MockResourceArgs) -> dict[str, Any]:
    kind = args.typ.rsplit(":", 1)[-1]
    if kind == "Subscription":
        spec = args.inputs.get("spec") or {}
        return {"status": {"installedCSV": spec.get("startingCSV") or f"{spec.get('name', '')}.installed"}}
    return {"status": {"conditions": []}} if kind in ("Job", "MPIJob", "TrainJob") else {}


class _Monitor(mocks.MockMonitor):
    def __init__(self, cluster: mocks.Mocks) -> None:
        super().__init__(cluster)
        self.registrations: list[Registration] = []

    def RegisterResource(self, request: Any) -> Message:
        response = _register(self, request)
        if request.type != "pulumi:pulumi:Stack":
            self.registrations.append(self._transformed(_registration(request, response)))
        return response

    def _transformed(self, item: Registration) -> Registration:
        """Return a registration after the stack's transforms: the program's change its inputs and retain_on_delete."""
        for transform in self.get_registered_transforms():
            opts = pulumi.ResourceOptions(retain_on_delete=item.retain_on_delete)
            args = pulumi.ResourceTransformArgs(True, item.type, item.name, {**item.inputs}, opts)
            result = transform(args)
            if isinstance(result, pulumi.ResourceTransformResult):
                retained = bool(result.opts.retain_on_delete)
                item = replace(item, inputs=plain(result.props), retain_on_delete=retained)
        return item


def _registration(request: Any, response: Any) -> Registration:
    has_trigger = request.HasField("replacement_trigger")
    return Registration(
        type=request.type,
        name=request.name,
        urn=response.urn,
        inputs=plain(rpc.deserialize_properties(request.object, keep_unknowns=True)),
        parent=request.parent,
        dependencies=tuple(sorted(request.dependencies)),
        property_dependencies={
            key: tuple(sorted(dependency.urns))
            for key, dependency in request.propertyDependencies.items()
            if dependency.urns
        },
        protect=request.protect,
        retain_on_delete=request.retainOnDelete,
        delete_before_replace=request.deleteBeforeReplace,
        replace_on_changes=tuple(request.replaceOnChanges),
        ignore_changes=tuple(request.ignoreChanges),
        replacement_trigger=plain(MessageToDict(request.replacement_trigger)) if has_trigger else None,
        aliases=tuple(alias.spec.type for alias in request.aliases if alias.spec.type),
        former_names=tuple(alias.spec.name for alias in request.aliases if alias.spec.name),
        secret_keys=_secret_keys(request) if request.type.endswith(":Secret") else (),
        arguments={} if request.custom else MessageToDict(request.object),
    )


def _secret_keys(request: Any) -> tuple[str, ...]:
    inputs = MessageToDict(request.object)
    values = [inputs.get(key) or {} for key in ("data", "stringData")]
    plain_values = [value.get("value", {}) if SIGNATURE in value else value for value in values]
    return tuple(sorted(key for value in plain_values for key in value))
