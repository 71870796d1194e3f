"""Who owns which fields of an object (metadata.managedFields), and which of them an update by the provider removes."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from core.apis import kinds

MISSING: Any = object()
_OUR_CREATES = ("pulumi-kubernetes", "pulumi-kubernetes.exe", "pulumi-resource-kubernetes")
_TRANSFERABLE = (
    *(("kubectl", "Apply"), ("kubectl", "Update"), ("before-first-apply", "Update")),
    *((name, "Update") for name in _OUR_CREATES),
)
"""Changes by kubectl, and our own create: an update takes their ownership instead of failing with a conflict."""


def entries(live: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield who owns which fields of an object; of a server before 1.18, no one any."""
    metadata = live.get("metadata")
    managed = metadata.get("managedFields") if isinstance(metadata, Mapping) else None
    yield from (entry for entry in (managed if isinstance(managed, list) else ()) if isinstance(entry, dict))


def is_transferable(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is kubectl's or that of our own create."""
    name, operation = str(entry.get("manager", "")), entry.get("operation")
    matches = any(name.startswith(prefix) and operation == expected for prefix, expected in _TRANSFERABLE)
    return matches and not entry.get("subresource")


def is_ours(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is of a provider's own creates."""
    return entry.get("manager") in _OUR_CREATES


def union(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of two entries."""
    result = dict(left)
    for key, value in right.items():
        result[key] = union(result[key], value) if key in result else value
    return result


def owned(live: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a user alone wrote, or that the server filled in for them, in the server's own form.

    What has a second owner stays when an update does not declare it. Of a CustomResourceDefinition everyone's labels
    and annotations count: an update replaces it as a whole.
    """
    owned_fields: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for entry in entries(live):
        if is_transferable(entry):
            owned_fields = union(owned_fields, entry.get("fieldsV1") or {})
        else:
            others = union(others, entry.get("fieldsV1") or {})
    owned_fields.pop("f:status", None)
    return union(owned_fields, _all_labels(live)) if is_definition(live) else _sole(owned_fields, others)


def is_definition(live: Mapping[str, Any]) -> bool:
    """Whether an object is a CustomResourceDefinition, which the provider replaces as a whole."""
    return live.get("kind") == kinds.CUSTOM_RESOURCE_DEFINITION.kind


def _all_labels(live: Mapping[str, Any]) -> dict[str, Any]:
    parts = {part: live["metadata"].get(part) or {} for part in ("labels", "annotations")}
    return {"f:metadata": {f"f:{part}": {f"f:{key}": {} for key in keys} for part, keys in parts.items()}}


def _sole(owned_fields: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Return owned fields without those that others own as well."""
    sole = {}
    for key, inner in owned_fields.items():
        if key not in others:
            sole[key] = inner
        elif nested := {name: part for name, part in _sole(inner, others[key]).items() if name != "."}:
            sole[key] = nested
    return sole


def of_item(fields: Mapping[str, Any] | None, item: Any) -> Any:
    """Return what is owned of an item of a list, by its key or its value; None where nothing is."""
    keys, entry = _identity(fields or {}, item)
    return None if keys is None else entry


def items_lost(
    live: Any, after: Any, owned_fields: Mapping[str, Any], path: tuple[str | int, ...] = ()
) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of what is owned in lists whose items have keys, and is not in `after`."""
    if isinstance(live, Mapping) and isinstance(after, Mapping):
        for key in (key for key in live if f"f:{key}" in owned_fields and key in after):
            yield from items_lost(live[key], after[key], owned_fields[f"f:{key}"], (*path, key))
    elif isinstance(live, list) and isinstance(after, list):
        for index, item in enumerate(live):
            keys, entry = _identity(owned_fields, item)
            counterpart = next((other for other in after if _has(other, keys)), MISSING)
            if keys is not None and counterpart is MISSING:
                yield (*path, index)
            elif isinstance(item, Mapping) and isinstance(counterpart, Mapping):
                yield from ((*path, index, key) for key in item if f"f:{key}" in entry and key not in counterpart)
                yield from items_lost(item, counterpart, entry, (*path, index))


def _identity(owned_fields: Mapping[str, Any], item: Any) -> tuple[Any, Mapping[str, Any]]:
    """Return the keys, or the value, by which an item of a list is owned, and what is; None where nothing is."""
    for name, entry in owned_fields.items():
        sort, _, text = name.partition(":")
        if sort in ("k", "v") and _has(item, json.loads(text)):
            return json.loads(text), entry
    return None, {}


def _has(item: Any, keys: Any) -> bool:
    """Whether an item has these keys, as far as it has them; or is this value."""
    if isinstance(item, Mapping) and isinstance(keys, Mapping):
        return all(item.get(key, value) == value for key, value in keys.items())
    return bool(item == keys)


def without(live: Any, fields: Mapping[str, Any]) -> Any:
    """Return a value without the fields in it that are owned; MISSING where nothing is left."""
    if isinstance(live, list):
        items = ((item, of_item(fields, item)) for item in live)
        remaining_items = [item if entry is None else without(item, entry) for item, entry in items]
        return [item for item in remaining_items if item is not MISSING] if {*fields} - {"."} else MISSING
    if not isinstance(live, dict) or not {*fields} - {"."}:
        return MISSING
    remaining = {key: value for key, value in live.items() if f"f:{key}" not in fields}
    inner = {key: without(live[key], fields[f"f:{key}"]) for key in live if f"f:{key}" in fields}
    remaining |= {key: value for key, value in inner.items() if value is not MISSING}
    return remaining or MISSING


def after_update(live: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object of a dry run of the provider without the fields whose ownership the update takes to remove them.

    A dry run cannot take ownership: what users wrote, and the program does not declare, is still there. An object
    that no program has updated stays as it is.
    """
    owned_fields = owned(live)
    applied = [str(entry.get("manager")) for entry in entries(live) if entry.get("operation") == "Apply"]
    if not owned_fields or not any(manager.startswith(_OUR_CREATES) for manager in applied):
        return live
    remaining: Mapping[str, Any] = without(live, owned_fields)
    return remaining
