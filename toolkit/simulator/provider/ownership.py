"""Who owns which fields of an object (metadata.managedFields), as server-side apply sees it (pure)."""

from core.apis.field_owners import is_ours, is_transferable, union
from toolkit.engine.prediction.values import Properties


def forced_in_preview(live: Properties) -> bool:
    """Whether the preview of an update must be forced: a dry run cannot transfer the fields of our create."""
    entries = live.get("metadata", {}).get("managedFields", [])
    return any(entry.get("operation") == "Update" and is_ours(entry) for entry in entries)


def transferred(entries: list[Properties], manager: str, api_version: str) -> list[Properties] | None:
    """Return the entries with all that can be merged into one apply entry of `manager`; None if nothing can.

    Without this, a field that leaves the program would stay on the object: its creation (by POST) still owns it.
    """
    transferable = [entry for entry in entries if is_transferable(entry)]
    if not transferable:
        return None
    own = [entry for entry in entries if entry.get("manager") == manager and entry.get("operation") == "Apply"]
    fields: Properties = {}
    for entry in (*own, *transferable):
        fields = union(fields, entry.get("fieldsV1", {}))
    merged = {
        **(own or transferable)[0],
        "manager": manager,
        "operation": "Apply",
        "apiVersion": api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    return [*(entry for entry in entries if entry not in transferable and entry not in own), merged]
