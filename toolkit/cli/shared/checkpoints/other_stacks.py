"""What other stacks have on the same cluster: nothing of it may come into this one's state, to be deleted with it.

All stacks give their objects the same labels, and a provider's name for itself is chosen at random. So what belongs to
whom is known from the states alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from policies.manifests.values import read
from toolkit.cli.shared.backends.backend import CLUSTER_UID, Backend

_OBJECTS = "kubernetes:"

_DEFAULT = "default"
"""Namespace of what names none. The official provider writes it into inputs of cluster-scoped kinds, too."""

Key = tuple[str, str, str, str]
"""API group, kind, namespace and name."""


@dataclass(frozen=True)
class OtherStacks:
    """Objects of other stacks, with their UIDs; None for one whose create no one saw end."""

    objects: Mapping[Key, frozenset[str | None]]

    def have(self, resource: Mapping[str, Any], live_object: Mapping[str, Any]) -> bool:
        """Whether the object that was found on the cluster for a resource is another stack's."""
        theirs = self.objects.get(_key(resource), frozenset())
        return None in theirs or read(live_object, "metadata", "uid") in theirs


NONE = OtherStacks({})


def of(stack: str, backend: Backend | None) -> OtherStacks:
    """Return what the other stacks of a backend have, without those that are noted to be on another cluster.

    Nothing where the backend cannot be read here. Raises Problem for a state that is damaged.
    """
    if backend is None:
        return NONE
    here = backend.tags(stack).get(CLUSTER_UID)
    owners: dict[Key, frozenset[str | None]] = {}
    for other in backend.stacks():
        other_uid = backend.tags(other).get(CLUSTER_UID)
        if other == stack or (here and other_uid and here != other_uid):
            continue
        latest = backend.checkpoint(other)
        pending = (
            operation["resource"]
            for operation in latest.get("pending_operations") or ()
            if operation["type"] == "creating"
        )
        for resource, uid in (*_uids(latest.get("resources") or ()), *((resource, None) for resource in pending)):
            if str(resource["type"]).startswith(_OBJECTS):
                owners[_key(resource)] = owners.get(_key(resource), frozenset()) | {uid}
    return OtherStacks(owners)


def _uids(resources: Iterable[Mapping[str, Any]]) -> Iterable[tuple[Mapping[str, Any], str | None]]:
    """Return objects with their UIDs; a patch is of an object that is another owner's anyway."""
    for resource in resources:
        if not str(resource["type"]).endswith("Patch"):
            uid = read(resource, "outputs", "metadata", "uid")
            yield resource, uid if isinstance(uid, str) else None


def _key(resource: Mapping[str, Any]) -> Key:
    version, _, kind = str(resource["type"]).removeprefix(_OBJECTS).partition(":")
    metadata = read(resource, "inputs", "metadata")
    return (
        version.removeprefix("core/").rpartition("/")[0],
        kind,
        str(read(metadata, "namespace") or _DEFAULT),
        str(read(metadata, "name") or ""),
    )
