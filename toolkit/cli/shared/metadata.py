"""Fields of the metadata of live objects; what an object does not have is empty."""

from collections.abc import Mapping
from typing import Any

from policies.manifests.values import read


def name(obj: Mapping[str, Any]) -> str:
    """Return the name of an object."""
    return str(read(obj, "metadata", "name") or "")


def namespace(obj: Mapping[str, Any]) -> str:
    """Return the namespace of an object, empty for one of the whole cluster."""
    return str(read(obj, "metadata", "namespace") or "")


def path(obj: Mapping[str, Any]) -> str:
    """Return NAMESPACE/NAME of an object, NAME for one of the whole cluster."""
    return "/".join(part for part in (namespace(obj), name(obj)) if part)


def uid(obj: Mapping[str, Any]) -> str:
    """Return the identity of an object."""
    return str(read(obj, "metadata", "uid") or "")


def labels(obj: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the labels of an object."""
    entries: Mapping[str, str] = read(obj, "metadata", "labels") or {}
    return entries


def annotations(obj: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the annotations of an object."""
    entries: Mapping[str, str] = read(obj, "metadata", "annotations") or {}
    return entries


def owned_by(obj: Mapping[str, Any], owner: str) -> bool:
    """Whether an object belongs to the one with the UID `owner`."""
    return bool(owner) and any(
        reference.get("uid") == owner for reference in read(obj, "metadata", "ownerReferences") or ()
    )
