"""The inputs of an object that a user created manually, and what an update would remove of it.

The engine compares a program with the inputs of the update before. An object that no program created has none; with
the live object in their place, every default of the server would be a difference, and with the new program in
their place, a group that an SCC has beside the declared ones would be none. So the inputs are composed of the fields
that the program declares, lists whole, as they are on the cluster; and the fields that a user wrote, by the API
server's own account (metadata.managedFields), whose ownership an update takes, and removes where they are not declared.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from core.apis import field_owners
from core.apis.field_owners import MISSING, is_ours, is_transferable
from core.pulumi_values import REDACTED

Trial = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
"""Given an object: what the cluster would make of it in the place of the one that is there, without doing it."""
BOOKKEEPING = (
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.daemonset.template.generation",
    "deployment.kubernetes.io/revision",
)
"""Annotations that clients and controllers reserve for themselves."""
_IDENTITY = ("apiVersion", "kind")
_PULUMI = "pulumi-kubernetes"
_SERVER = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid")


def owned_metadata(mine: Mapping[str, Any]) -> dict[str, Any]:
    """Return of a user's fields those of the metadata, which an object can always lose."""
    return {key: value for key, value in mine.items() if key == "f:metadata"}


def updated(live: Mapping[str, Any], declared: Mapping[str, Any], mine: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an update would send for the whole object: `mine`, a user's fields, go unless they are declared."""
    metadata = {key: value for key, value in live["metadata"].items() if key != "managedFields"}
    body: dict[str, Any] = _replaced({**live, "metadata": metadata}, declared, mine)
    return body


def inputs(
    live: Mapping[str, Any], declared: Mapping[str, Any], mine: Mapping[str, Any], after: Mapping[str, Any]
) -> dict[str, Any]:
    """Return an object's inputs as if a program had made it as it is.

    `after` is the object after the update that `updated` describes: of a user's fields, those that it changes count;
    the others the server fills in again.
    """
    recorded: dict[str, Any] = _seen(live, declared, mine, after)
    metadata = {key: value for key, value in (recorded.get("metadata") or {}).items() if key not in _SERVER}
    metadata |= {key: live["metadata"][key] for key in ("name", "namespace") if key in live["metadata"]}
    annotations = metadata.pop("annotations", None) or {}
    annotations = {key: text for key, text in annotations.items() if key not in BOOKKEEPING}
    if annotations:
        metadata["annotations"] = annotations
    return {**{key: live[key] for key in _IDENTITY if key in live}, **recorded, "metadata": metadata}


def managers(live: Mapping[str, Any]) -> set[str]:
    """Return the clients whose fields an update takes over, or of a CustomResourceDefinition replaces."""
    entries = [*field_owners.entries(live)]
    if field_owners.is_definition(live):
        names = {str(entry.get("manager")) for entry in entries if not entry.get("subresource")}
        return {name for name in names if not name.startswith(_PULUMI)}
    return {str(entry.get("manager")) for entry in entries if is_transferable(entry) and not is_ours(entry)}


def without_secrets(declared: Mapping[str, Any], live: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is declared, with the live value in place of each secret, which is neither known nor shown here."""
    folded: dict[str, Any] = dict(declared)
    if folded.get("kind") == "Secret":
        texts = folded.pop("stringData", None)
        data = folded.pop("data", None)
        if isinstance(texts, Mapping) or isinstance(data, Mapping):
            both = [part for part in (texts, data) if isinstance(part, Mapping)]
            folded["data"] = {key: REDACTED for part in both for key in part}
    result = _unhidden(folded, live)
    return result if isinstance(result, dict) else {}


def _unhidden(declared: Any, live: Any) -> Any:
    if declared == REDACTED:
        return MISSING if live is MISSING else live
    if isinstance(declared, Mapping):
        live_fields = live if isinstance(live, Mapping) else {}
        shown = {key: _unhidden(value, live_fields.get(key, MISSING)) for key, value in declared.items()}
        return {key: REDACTED if value is MISSING else value for key, value in shown.items()}
    if isinstance(declared, list):
        rest = live if isinstance(live, list) else []
        found_items = [_unhidden(item, rest[i] if i < len(rest) else MISSING) for i, item in enumerate(declared)]
        return [REDACTED if item is MISSING else item for item in found_items]
    return declared


def _seen(live: Any, declared: Any, mine: Any, after: Any) -> Any:
    """Return what is declared (lists whole) of a live value, and what is a user's (`mine`) and will change."""
    if isinstance(live, dict) and isinstance(declared, Mapping):
        return dict(_fields(live, declared, mine or {}, after if isinstance(after, Mapping) else {}))
    if isinstance(live, list) and isinstance(declared, list):
        later = after if isinstance(after, list) else []
        return [
            _seen(item, declared[index], field_owners.of_item(mine, item), later[index] if index < len(later) else item)
            if index < len(declared)
            else item
            for index, item in enumerate(live)
        ]
    return live


def _fields(
    live: Mapping[str, Any], declared: Mapping[str, Any], mine: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    for key, value in live.items():
        if value is None:  # as good as absent
            continue
        declared_value, own = declared.get(key, MISSING), mine.get(f"f:{key}")
        later = after.get(key, MISSING)
        if declared_value is not MISSING:
            yield key, _seen(value, declared_value, own, later)
        elif own is not None and later != value:
            parts = isinstance(value, dict) and isinstance(later, Mapping)
            yield key, {name: part for name, part in value.items() if later.get(name) != part} if parts else value


def _replaced(live: Any, declared: Any, mine: Any) -> Any:
    if not isinstance(declared, Mapping) or not isinstance(live, dict):
        return declared
    kept = {key: value for key, value in live.items() if key not in declared}
    for key in list(kept):
        own = (mine or {}).get(f"f:{key}")
        if own is None:
            continue
        rest = field_owners.without(kept.pop(key), own)
        if rest is not MISSING:
            kept[key] = rest
    return kept | {
        key: _replaced(live[key], value, (mine or {}).get(f"f:{key}")) if key in live else value
        for key, value in declared.items()
    }
