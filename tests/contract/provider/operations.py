"""Requests about resources in the order in which the engine sends them, and their answers as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2, status_pb2

from tests.contract.provider.plugin import Plugin
from tests.contract.provider.wire import decode, encode, is_mark

_SEED, _NEXT_SEED = bytes(range(32)), bytes(range(32, 64))
_CHANGES = {0: "unknown", 1: "none", 2: "some"}


@dataclass
class State:
    """What the engine keeps of a resource."""

    id: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]


@dataclass
class Resource:
    """One resource of a case: what the program gives it now, what Check made of that, and the engine's state."""

    urn: str
    type: str
    news: dict[str, Any]
    checked: dict[str, Any] = field(default_factory=dict)
    state: State | None = None

    @property
    def name(self) -> str:
        """Its logical name."""
        return self.urn.rpartition("::")[2]


class RefusedError(Exception):
    """A request was refused; `answer` is what is recorded of it, `partial` what exists all the same."""

    def __init__(self, answer: dict[str, Any], partial: State | None) -> None:
        super().__init__(answer["error"])
        self.answer = answer
        self.partial = partial


def merged(value: Any, patch: Any) -> Any:
    """Return the value with a merge patch applied: nulls remove, lists and marks replace."""
    if not isinstance(patch, Mapping) or is_mark(patch) or not isinstance(value, Mapping) or is_mark(value):
        return _without_nulls(patch)
    result = dict(value)
    for key, item in patch.items():
        if item is None:
            result.pop(key, None)
        else:
            result[key] = merged(result[key], item) if key in result else _without_nulls(item)
    return result


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping) and not is_mark(value):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return value


def call(plugin: Plugin, method: str, request: Any) -> Any:
    """Send a request; raises RefusedError."""
    try:
        return plugin.call(method, request)
    except grpc.RpcError as error:
        raise _refused(error) from error


def _refused(error: Any) -> RefusedError:
    answer: dict[str, Any] = {"error": error.details()}
    if error.code() != grpc.StatusCode.UNKNOWN:
        answer["code"] = error.code().name
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                failed = provider_pb2.ErrorResourceInitFailed()
                if detail.Unpack(failed):
                    partial = State(failed.id, decode(failed.inputs), decode(failed.properties))
                    answer["partial"] = {
                        "id": partial.id,
                        "properties": partial.outputs,
                        "reasons": sorted(failed.reasons),
                        **({"inputs": partial.inputs} if failed.HasField("inputs") else {}),
                    }
                    return RefusedError(answer, partial)
    return RefusedError(answer, None)


def _about(resource: Resource) -> dict[str, Any]:
    return {"urn": resource.urn, "name": resource.name, "type": resource.type}


def _state(resource: Resource) -> State:
    assert resource.state is not None, "the step needs a resource that is there"
    return resource.state


def _change(resource: Resource) -> dict[str, Any]:
    """Return the fields of a request that compares what the engine has of a resource with its new inputs."""
    state = _state(resource)
    olds = {"olds": encode(state.outputs), "old_inputs": encode(state.inputs)}
    return {"id": state.id, **_about(resource), **olds, "news": encode(resource.checked)}


def check(plugin: Plugin, resource: Resource, *, fresh: bool = False, autonaming: Any = None) -> dict[str, Any]:
    """Check the resource's inputs; `fresh` as for a resource that is not there, or is to be replaced."""
    olds = resource.state.inputs if resource.state and not fresh else None
    request = provider_pb2.CheckRequest(
        **_about(resource),
        news=encode(resource.news),
        randomSeed=_NEXT_SEED if fresh else _SEED,
        olds=encode(olds) if olds is not None else None,
        autonaming=autonaming,
    )
    answer = call(plugin, "Check", request)
    failures = sorted(f"{failure.property}: {failure.reason}" for failure in answer.failures)
    resource.checked = decode(answer.inputs)
    return {"inputs": resource.checked, **({"failures": failures} if failures else {})}


def diff(plugin: Plugin, resource: Resource, ignore: list[str]) -> dict[str, Any]:
    """Ask what would change."""
    request = provider_pb2.DiffRequest(
        **_change(resource),
        ignoreChanges=ignore,
    )
    return diff_answer(call(plugin, "Diff", request))


def diff_answer(answer: Any) -> dict[str, Any]:
    """Return an answer of Diff or DiffConfig as plain data."""
    kinds = provider_pb2.PropertyDiff.Kind
    detailed = {
        path: kinds.Name(item.kind).lower() + (" of inputs" if item.inputDiff else "")
        for path, item in answer.detailedDiff.items()
    }
    return {
        "changes": _CHANGES[answer.changes],
        **({"replaces": sorted(answer.replaces)} if answer.replaces else {}),
        **({"deleteBeforeReplace": True} if answer.deleteBeforeReplace else {}),
        **({"detailed": detailed} if detailed else {}),
        **({"diffs": sorted(answer.diffs)} if answer.diffs else {}),
    }


def create(plugin: Plugin, resource: Resource, *, preview: bool, timeout: float) -> dict[str, Any]:
    """Create the resource, or preview that."""
    request = provider_pb2.CreateRequest(
        **_about(resource),
        properties=encode(resource.checked),
        timeout=timeout,
        preview=preview,
    )
    answer = call(plugin, "Create", request)
    properties = decode(answer.properties)
    if not preview:
        resource.state = State(answer.id, resource.checked, properties)
    return {"id": answer.id, "properties": properties}


def update(plugin: Plugin, resource: Resource, *, preview: bool, timeout: float, ignore: list[str]) -> dict[str, Any]:
    """Update the resource, or preview that."""
    request = provider_pb2.UpdateRequest(
        **_change(resource),
        timeout=timeout,
        preview=preview,
        ignoreChanges=ignore,
    )
    properties = decode(call(plugin, "Update", request).properties)
    if not preview:
        resource.state = State(_state(resource).id, resource.checked, properties)
    return {"properties": properties}


def read(plugin: Plugin, resource: Resource, identifier: str | None) -> dict[str, Any]:
    """Read the resource as a refresh does, or, with an id, as an import does."""
    state = State(identifier, {}, {}) if identifier else _state(resource)
    request = provider_pb2.ReadRequest(
        id=state.id,
        **_about(resource),
        properties=None if identifier else encode(state.outputs),
        inputs=None if identifier else encode(state.inputs),
    )
    answer = call(plugin, "Read", request)
    if not answer.id:
        resource.state = None
        return {"gone": True}
    resource.state = State(answer.id, decode(answer.inputs), decode(answer.properties))
    return {"id": answer.id, "inputs": resource.state.inputs, "properties": resource.state.outputs}


def delete(plugin: Plugin, resource: Resource, *, timeout: float) -> dict[str, Any]:
    """Delete the resource."""
    request = provider_pb2.DeleteRequest(
        id=_state(resource).id,
        **_about(resource),
        properties=encode(_state(resource).outputs),
        old_inputs=encode(_state(resource).inputs),
        timeout=timeout,
    )
    call(plugin, "Delete", request)
    resource.state = None
    return {}


def configured(plugin: Plugin, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Configure the provider, and say what it supports."""
    try:
        answer = plugin.configure(settings)
    except grpc.RpcError as error:
        raise _refused(error) from error
    return {
        name: getattr(answer, name)
        for name in ("acceptSecrets", "supportsPreview", "supports_autonaming_configuration")
    }
