"""What the engine keeps of an object: the live object, with the inputs beside it (the official provider's form)."""

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import Any

from simulator.plugins.provider.inputs import ObjectType, annotation, manifest
from simulator.plugins.provider.shapes import Path, is_nothing, same
from simulator.plugins.provider.values import (
    MISSING,
    Properties,
    Secret,
    has_secret,
    mark_secrets,
    plain,
    with_dashes,
    with_underscores,
)

INPUTS = "__inputs"
FIELD_MANAGER = "__fieldManager"
INITIAL_API_VERSION = "__initialApiVersion"
_PATCH_FIELD_MANAGER = "pulumi.com/patchFieldManager"
_MADE_BY_SERVER = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@dataclass(frozen=True)
class Marks:
    """What is recorded of an object besides its fields: who owns ours, and in which version it was first made."""

    manager: str
    initial_api_version: str


def marks(urn: str, inputs: Properties, outputs: Properties) -> Marks:
    """Return the marks for a resource with these inputs and recorded outputs (none yet: empty)."""
    version = str(outputs.get(INITIAL_API_VERSION) or inputs.get("apiVersion", ""))
    return Marks(field_manager(urn, inputs, outputs), version)


def recorded(inputs: Properties, live: Properties, noted: Marks) -> Properties:
    """Return the outputs of a resource. Who owns which field is left out: it changes with every status update."""
    shown = {**live, "metadata": {k: v for k, v in live.get("metadata", {}).items() if k != "managedFields"}}
    texts = plain(inputs.get("stringData"))
    sources = {**inputs, "data": Secret(None)} if texts else inputs
    if live.get("kind") == "Secret" or has_secret(inputs):
        sources = _hiding_what_was_applied(sources)
    return {
        **mark_secrets(with_underscores(shown), sources),
        INPUTS: mark_secrets(with_underscores(inputs), inputs),
        INITIAL_API_VERSION: noted.initial_api_version,
        FIELD_MANAGER: noted.manager,
    }


def _hiding_what_was_applied(sources: Properties) -> Properties:
    """Return sources by which what `kubectl apply` has noted is secret: it repeats all of the object as one text."""
    metadata = sources.get("metadata") or {}
    annotations = metadata.get("annotations") or {} if isinstance(metadata, dict) else metadata
    if not isinstance(annotations, dict):  # all of it is secret
        return sources
    return {**sources, "metadata": {**metadata, "annotations": {**annotations, _LAST_APPLIED: Secret(None)}}}


def in_preview(live: Properties) -> Properties:
    """Return a dry run's object without its status, which no controller has set."""
    return {key: value for key, value in live.items() if key != "status"}


def split(outputs: Properties) -> tuple[Properties, Properties]:
    """Return the inputs and the live object in recorded outputs, both plain."""
    values = with_dashes(plain(outputs))
    live = {key: value for key, value in values.items() if not key.startswith("__")}
    return values.get(INPUTS, {}), live


def field_manager(urn: str, inputs: Properties, outputs: Properties) -> str:
    """Return the name under which fields are owned: the annotation's, the recorded one, or one made from the URN.

    The same for the same resource, so that an object whose create was interrupted is recognised as ours.
    """
    named = annotation(inputs, _PATCH_FIELD_MANAGER)
    old = outputs.get(FIELD_MANAGER)
    return named or (
        old if isinstance(old, str) else f"pulumi-kubernetes-{hashlib.sha256(urn.encode()).hexdigest()[:8]}"
    )


def only_identity(inputs: Properties) -> bool:
    """Whether recorded inputs say no more than which object it is: so for one that was imported."""
    return set(inputs) <= {"apiVersion", "kind", "metadata"} and set(inputs.get("metadata", {})) <= {
        "name",
        "namespace",
    }


def identity(live: Properties) -> Properties:
    """Return inputs that say no more than which object it is."""
    metadata = {key: live["metadata"][key] for key in ("name", "namespace") if key in live["metadata"]}
    return {"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": metadata}


def inputs_from_cluster(live: Properties) -> Properties:
    """Return inputs for an object that no program has described: all but what only the server sets."""
    metadata = {key: value for key, value in live["metadata"].items() if key not in _MADE_BY_SERVER}
    annotations = {k: v for k, v in metadata.get("annotations", {}).items() if k != _LAST_APPLIED}
    if annotations or "annotations" in metadata:
        metadata["annotations"] = annotations
    return {**{key: value for key, value in live.items() if key != "status"}, "metadata": metadata}


def refreshed_inputs(inputs: Properties, live: Properties, kind: ObjectType) -> Properties:
    """Return the inputs as the cluster has them now; a value that means the same stays as it was written."""
    old = manifest(inputs)
    found: Properties = _refreshed(old, live, (), builtin=kind.builtin)
    texts = plain(inputs.get("stringData"))
    if not isinstance(texts, dict):
        return found
    data = found.get("data", {})
    found["stringData"] = {key: _text(data[key]) for key in texts if key in data}
    rest = {key: value for key, value in data.items() if key not in texts}
    return {**{k: v for k, v in found.items() if k != "data"}, **({"data": rest} if "data" in inputs else {})}


def _refreshed(old: Any, live: Any, path: Path, *, builtin: bool) -> Any:
    if isinstance(old, dict) and isinstance(live, dict):
        return {
            key: _refreshed(value, live.get(key, value), (*path, key), builtin=builtin)
            for key, value in old.items()
            if key in live or (builtin and is_nothing(value))
        }
    if isinstance(old, list) and isinstance(live, list):
        return [_refreshed(a, b, (*path, i), builtin=builtin) for i, (a, b) in enumerate(zip(old, live, strict=False))]
    return old if live is MISSING or same(old, live, path, builtin=builtin) else live


def _text(encoded: str) -> str:
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return encoded


def with_values_of(body: Properties, live: Properties, paths: tuple[Path, ...]) -> Properties:
    """Return the body with the live object's values at the paths, where both have one (maps only)."""
    for path in paths:
        body = _with_value(body, live, path)
    return body


def _with_value(body: Any, live: Any, path: Path) -> Any:
    if not path:
        return live
    step = path[0]
    if isinstance(body, dict) and isinstance(live, dict) and step in body and step in live:
        return {**body, step: _with_value(body[step], live[step], path[1:])}
    return body
