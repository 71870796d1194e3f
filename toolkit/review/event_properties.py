"""Properties of the engine's events as plain data: no secret, nothing of the engine's own, nothing random."""

from collections.abc import Mapping
from typing import Any

from core.pulumi_values import REDACTED, SIGNATURE, UNKNOWN_STRING
from policies.manifests.values import mapping
from toolkit.review.model import UNKNOWN, Resource

_OWN = ("__defaults", "__internal", "__inputs", "__fieldManager", "__initialApiVersion")
_BY_SERVER = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid")
"""Metadata that a dry run generates each time."""
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_TEXTS = ("data", "stringData")


def resource(state: Mapping[str, Any], *, live: Mapping[str, Any] | None = None) -> Resource:
    """Return a resource of an event's `old` or `new`; `live` in place of its outputs, where another event has them."""
    kind, outputs = str(state.get("type") or ""), live if live is not None else mapping(state, "outputs")
    return Resource(
        urn=str(state.get("urn") or ""),
        type=kind,
        inputs=without_secrets(plain(mapping(state, "inputs")), kind),
        parent=str(state.get("parent") or ""),
        protect=bool(state.get("protect")),
        retain_on_delete=bool(state.get("retainOnDelete")),
        live=without_secrets(lasting(plain(outputs)), kind),
    )


def plain(value: Any) -> Any:
    """Return a value of an event as JSON data, in which REDACTED and UNKNOWN replace values."""
    if isinstance(value, Mapping):
        if SIGNATURE in value:
            return REDACTED
        return {_key(key): plain(item) for key, item in value.items() if key not in _OWN}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return UNKNOWN if value == UNKNOWN_STRING else value


def _key(key: str) -> str:
    """Return a key as a manifest has it: the provider's outputs have `x_kubernetes_int_or_string`."""
    return key.replace("_", "-") if key.startswith("x_kubernetes_") else key


def lasting(live: dict[str, Any]) -> dict[str, Any]:
    """Return an object without what the server makes up for each."""
    metadata = live.get("metadata")
    if not isinstance(metadata, dict):
        return live
    kept = {key: value for key, value in metadata.items() if key not in _BY_SERVER}
    return {**live, "metadata": kept}


def without_secrets(content: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return the content of a Secret with its keys only, whatever the program has marked as secret."""
    if not kind.endswith((":Secret", ":SecretPatch")):
        return content
    result = {key: _redacted(value) if key in _TEXTS else value for key, value in content.items()}
    metadata = result.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if isinstance(annotations, dict) and _LAST_APPLIED in annotations:
        shown = {**annotations, _LAST_APPLIED: REDACTED}
        result["metadata"] = {**result["metadata"], "annotations": shown}
    return result


def _redacted(value: Any) -> Any:
    return dict.fromkeys(value, REDACTED) if isinstance(value, Mapping) else REDACTED
