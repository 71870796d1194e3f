"""Who owns which fields of an object (metadata.managedFields), as server-side apply sees it (pure)."""

from typing import Any

from simulator.plugins.provider.values import Properties

# Changes by hand, and our own create: an update takes them over instead of ending in a conflict with them.
_TAKEN_OVER = ("kubectl", "before-first-apply", "pulumi-kubernetes", "pulumi-resource-kubernetes")


def can_be_taken_over(entry: Properties, manager: str) -> bool:
    """Whether a managedFields entry is a person's or our own earlier one."""
    name = str(entry.get("manager", ""))
    if entry.get("subresource"):
        return False
    if name == manager:
        return entry.get("operation") == "Update"
    if name.startswith("pulumi-kubernetes"):
        return entry.get("operation") == "Update"
    return name.startswith(_TAKEN_OVER)


def taken_over(entries: list[Properties], manager: str, api_version: str) -> list[Properties] | None:
    """Return the entries with all that can be taken over in one apply entry of `manager`; None if nothing can.

    Without this, a field that leaves the program would stay on the object: its creation (by POST) still owns it.
    """
    taken = [entry for entry in entries if can_be_taken_over(entry, manager)]
    if not taken:
        return None
    own = [entry for entry in entries if entry.get("manager") == manager and entry.get("operation") == "Apply"]
    fields: Properties = {}
    for entry in (*own, *taken):
        fields = _union(fields, entry.get("fieldsV1", {}))
    merged = {
        **(own or taken)[0],
        "manager": manager,
        "operation": "Apply",
        "apiVersion": api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    return [*(entry for entry in entries if entry not in taken and entry not in own), merged]


def _union(left: Properties, right: Properties) -> Properties:
    result: dict[str, Any] = dict(left)
    for key, value in right.items():
        result[key] = _union(result[key], value) if key in result else value
    return result
