"""Texts of errors: the server's words in the official provider's sentences, and what to do (pure)."""

from core.apis.client import ApiError
from toolkit.engine.prediction.inputs import ObjectType
from toolkit.simulator.provider.checks import PATCH_FORCE

_REQUIRED = "FieldValueRequired"


def not_created(urn: str, error: Exception) -> str:
    """Return why a resource was not created."""
    text = f'resource "{urn}" was not successfully created by the Kubernetes API server: {explained(error)}'
    if isinstance(error, ApiError) and error.reason == "AlreadyExists":
        text += (
            "\n\nTo manage the existing object, import it (pulumi import, or the resource option import_), or set the"
            " provider's upsertExistingObjects; for a renamed resource, give an alias."
        )
    return text


def not_deleted(kind: ObjectType, error: ApiError) -> str:
    """Return why a resource was not deleted."""
    causes = [cause for cause in error.details.get("causes", []) if cause.get("reason") == _REQUIRED]
    if kind.patch and causes:
        return (
            "this Patch resource is currently managing a required field, so it can't be deleted directly. Either set"
            " the `retainOnDelete` resource option, or transfer ownership of the field before deleting:"
            f" {causes[0].get('field')}"
        )
    return str(error)


def explained(error: Exception) -> str:
    """Return the words of an error; after those of a conflict, what to do."""
    if isinstance(error, ApiError) and error.conflict and "conflict" in str(error):
        return (
            f"{error}. Another field manager owns these fields with other values: leave them out of the program, or "
            f'set the annotation {PATCH_FORCE}: "true" to take them over.'
        )
    return str(error)
