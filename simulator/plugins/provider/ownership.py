"""Who owns which fields of an object (metadata.managedFields), as server-side apply sees it (pure)."""

from typing import Any

from simulator.plugins.provider.values import Properties

# Changes by kubectl, and our own create: an update takes their ownership instead of failing with a conflict.
_TRANSFERABLE = (
    *(("kubectl", "Apply"), ("kubectl", "Update"), ("before-first-apply", "Update")),
    *(("pulumi-kubernetes", "Update"), ("pulumi-kubernetes.exe", "Update"), ("pulumi-resource-kubernetes", "Update")),
)
_OUR_CREATES = ("pulumi-resource-kubernetes", "pulumi-kubernetes", "pulumi-kubernetes.exe")


def is_transferable(entry: Properties) -> bool:
    """Whether a managedFields entry is kubectl's or that of our own create."""
    name, operation = str(entry.get("manager", "")), entry.get("operation")
    matches = any(name.startswith(prefix) and operation == wanted for prefix, wanted in _TRANSFERABLE)
    return matches and not entry.get("subresource")


def is_ours(entry: Properties) -> bool:
    """Whether a managedFields entry is of a provider's own creates."""
    return entry.get("manager") in _OUR_CREATES


def forced_in_preview(live: Properties) -> bool:
    """Whether the preview of an update must be forced: a dry run cannot transfer the fields of our create."""
    entries = live.get("metadata", {}).get("managedFields", [])
    return any(entry.get("operation") == "Update" and is_ours(entry) for entry in entries)


def transferred(entries: list[Properties], manager: str, api_version: str) -> list[Properties] | None:
    """Return the entries with all that can be merged into one apply entry of `manager`; None if nothing can.

    Without this, a field that leaves the program would stay on the object: its creation (by POST) still owns it.
    """
    found = [entry for entry in entries if is_transferable(entry)]
    if not found:
        return None
    own = [entry for entry in entries if entry.get("manager") == manager and entry.get("operation") == "Apply"]
    fields: Properties = {}
    for entry in (*own, *found):
        fields = _union(fields, entry.get("fieldsV1", {}))
    merged = {
        **(own or found)[0],
        "manager": manager,
        "operation": "Apply",
        "apiVersion": api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    return [*(entry for entry in entries if entry not in found and entry not in own), merged]


def _union(left: Properties, right: Properties) -> Properties:
    result: dict[str, Any] = dict(left)
    for key, value in right.items():
        result[key] = _union(result[key], value) if key in result else value
    return result
